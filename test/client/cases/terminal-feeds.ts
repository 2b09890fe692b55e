// Who watches a terminal, how fast, and who else.
import assert from "node:assert/strict";
import { attachXterm, type OutputInfo, type Terminal, type TerminalExit } from "trl/client";
import { ApplicationError, applicationErrors, type Case, soon, until } from "../world.ts";
import { numbers } from "./streams.ts";

/** Gathers what is live, and fails where a byte is lost or doubled. */
export class Gatherer {
  readonly #decoder = new TextDecoder();
  text = "";
  redraws: string[] = [];
  problems: string[] = [];
  next: number | undefined;

  readonly take = (bytes: Uint8Array, { offset, isRedraw }: OutputInfo): void => {
    if (this.next !== undefined && offset !== this.next)
      this.problems.push(`${offset} came, not ${this.next}`);
    this.next = isRedraw ? offset : offset + bytes.length;
    if (isRedraw) this.redraws.push(new TextDecoder().decode(bytes));
    else this.text += this.#decoder.decode(bytes, { stream: true });
  };
}

/** What an emulator does, without the screen. */
class FakeXterm {
  cols = 111;
  rows = 33;
  shown = "";
  resets = 0;
  readonly listeners = new Set<{ kind: string; tell(value: never): void }>();

  write(data: string | Uint8Array, done?: () => void): void {
    const text = typeof data === "string" ? data : new TextDecoder().decode(data);
    if (text === "\x1bc") this.resets++;
    else this.shown += text;
    if (done) setTimeout(done, 1);
  }
  resize(cols: number, rows: number): void {
    Object.assign(this, { cols, rows });
    this.#tell("resize", { cols, rows });
  }
  onData = (tell: (data: string) => void) => this.#on("data", tell);
  onBinary = (tell: (data: string) => void) => this.#on("binary", tell);
  onResize = (tell: (size: { cols: number; rows: number }) => void) => this.#on("resize", tell);

  type(data: string): void {
    this.#tell("data", data);
  }
  resizeByUser(cols: number, rows: number): void {
    this.resize(cols, rows);
  }

  #on(kind: string, tell: (value: never) => void) {
    const listener = { kind, tell };
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }
  #tell(kind: string, value: unknown): void {
    for (const listener of this.listeners) if (listener.kind === kind) listener.tell(value as never);
  }
}

/** Prints when it is told to, and then waits. */
export const counting = (last: number): string =>
  `stty -echo; echo ready; read go; seq 1 ${last}; echo finished; read more; echo again; read end`;
export const counted = (last: number): string => `${numbers(last)}finished\n`.replaceAll("\n", "\r\n");

export const ready = (terminal: Terminal) => terminal.wait({ text: "ready" }, { timeoutS: 20 });

export const terminalFeeds: Case[] = [
  {
    name: "watch: a redraw first, then what comes, sizes, and the end last",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({
        command: "stty -echo; echo before; read x; echo after; exit 4",
      });
      await terminal.wait({ text: "before" });
      const gathered = new Gatherer();
      const sizes: string[] = [];
      let end: TerminalExit | undefined;
      terminal.watch({
        output: gathered.take,
        resize: ({ cols, rows }) => void sizes.push(`${cols}x${rows}`),
        exit: (exit) => {
          end = exit;
          assert.match(gathered.text, /after/);
        },
      });
      await until("the redraw", () => gathered.redraws.length > 0);
      assert.match(gathered.redraws[0]!, /before/);
      await terminal.resize(99, 33);
      await until("the size", () => sizes.includes("99x33"));
      await terminal.write("\n");
      assert.deepEqual(await until("the end", () => end), { exitCode: 4, signal: null });
      assert.deepEqual(gathered.problems, []);
    },
  },
  {
    name: "watch: from an offset, without a redraw, and no more once it was ended",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({ command: counting(5000) });
      await ready(terminal);
      const first = new Gatherer();
      const stop = terminal.onOutput(first.take, { from: 0 });
      await until("what was before", () => first.text.includes("ready"));
      await terminal.write("\n");
      await until("the count", () => first.text.includes("finished\r\n"));
      stop();
      assert.deepEqual(first.redraws, []);
      assert.equal(first.text === `ready\r\n${counted(5000)}`, true);
      const before = first.text;
      const second = new Gatherer();
      let isWatched = false;
      const subscribed = () => {
        isWatched = true;
      };
      terminal.watch({ output: second.take, resize: subscribed }, { replay: "none" });
      await until("the subscription, after the end of the first", () => isWatched);
      await terminal.write("\n");
      await until("what comes", () => second.text.includes("again"));
      assert.deepEqual([second.text, second.redraws], ["again\r\n", []]);
      assert.equal(first.text, before);
    },
  },
  {
    name: "watch: left in the middle of much output, and taken up again at the same byte",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({ command: counting(60_000) });
      await ready(terminal);
      const gathered = new Gatherer();
      let stop = terminal.onOutput(gathered.take, { replay: "none" });
      await trl.call("system.ping");
      await terminal.write("\n");
      for (let times = 1; times <= 8; times++) {
        const seen = gathered.text.length;
        await until("more", () => gathered.text.length > seen || gathered.text.includes("finished\r\n"));
        stop();
        stop = terminal.onOutput(gathered.take, { from: gathered.next! });
      }
      await until("the count", () => gathered.text.includes("finished\r\n"));
      assert.deepEqual(gathered.problems, []);
      assert.equal(gathered.text === counted(60_000), true);
    },
  },
  {
    name: "watch: two handles of one terminal in one client see all of it, and one may leave",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({ command: counting(5000) });
      const other = await trl.openTerminal(terminal.id);
      await ready(terminal);
      const [first, second] = [new Gatherer(), new Gatherer()];
      terminal.onOutput(first.take);
      await until("the first redraw", () => first.redraws.length > 0);
      const leave = other.onOutput(second.take);
      await until("the second redraw", () => second.redraws.length > 0);
      await terminal.write("\n");
      await until(
        "both counts",
        () => first.text.includes("finished\r\n") && second.text.includes("finished"),
      );
      assert.equal(first.text === counted(5000) && second.text === first.text, true);
      leave();
      await terminal.write("\n");
      await until("the rest", () => first.text.includes("again"));
      assert.equal(second.text.includes("again"), false);
      await other[Symbol.asyncDispose]();
      assert.equal((await terminal.info()).state, "running");
    },
  },
  {
    name: "watch: whoever is slow gets no more than a window's worth, and others are answered",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({ command: counting(100_000) });
      await ready(terminal);
      const slow = new Gatherer();
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      terminal.onOutput(
        (bytes, info) => {
          slow.take(bytes, info);
          return released;
        },
        { replay: "none" },
      );
      await trl.call("system.ping");
      await terminal.write("\n");
      await terminal.wait({ text: "finished" }, { timeoutS: 30 });
      for (let asked = 0; asked < 20; asked++) await trl.call("system.ping");
      assert.ok(slow.text.length <= 256 * 1024, `${slow.text.length} bytes came`);
      release();
      const { offset } = await terminal.info();
      await until("the rest", () => slow.next === offset);
    },
  },
  {
    name: "watch: whoever leaves without having dealt with all holds nobody back",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({ command: counting(100_000) });
      await ready(terminal);
      const other = new Gatherer();
      terminal.onOutput(other.take, { replay: "none" });
      let came = 0;
      const leave = terminal.onOutput(
        (bytes) => {
          came += bytes.length;
          return new Promise(() => {}); // an emulator that was thrown away says nothing any more
        },
        { replay: "none" },
      );
      await trl.call("system.ping");
      await terminal.write("\n");
      await terminal.wait({ text: "finished" }, { timeoutS: 30 });
      await until("a window's worth", () => came >= 96 * 1024);
      leave();
      const { offset } = await terminal.info();
      await until("the rest", () => other.next === offset);
    },
  },
  {
    name: "attachXterm: to a program that has ended shows its last screen and its end, and no error",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({ command: "echo last words; exit 4" });
      await terminal.exited;
      const xterm = new FakeXterm();
      const errors: Error[] = [];
      const ended = new Promise<TerminalExit>((onExit) =>
        attachXterm(terminal, xterm, { onExit, onError: (error) => errors.push(error) }),
      );
      assert.equal((await soon("its end", ended)).exitCode, 4);
      await trl.call("system.ping");
      assert.deepEqual(errors, []);
      assert.ok(xterm.shown.includes("last words"));
    },
  },
  {
    name: "attachXterm: output, keys and sizes go both ways, until it is disposed of",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({
        command: "stty -echo; echo ready; cat",
        cols: 60,
        rows: 20,
      });
      await ready(terminal);
      const xterm = new FakeXterm();
      {
        using _attached = attachXterm(terminal, xterm);
        await until("the redraw", () => xterm.shown.includes("ready"));
        assert.equal(xterm.resets, 1);
        await until("its size", async () => (await terminal.info()).cols === 111);
        xterm.type("typed ä\n");
        await until("the echo", () => xterm.shown.includes("typed ä"));
        xterm.resizeByUser(99, 44);
        await until("the new size", async () => (await terminal.info()).cols === 99);
      }
      assert.equal(xterm.listeners.size, 0);
      const { shown } = xterm;
      await terminal.write("unseen\n");
      await terminal.wait({ text: "unseen" });
      assert.equal(xterm.shown, shown);
    },
  },
  {
    name: "watch: a watcher that throws disturbs no other, and is heard of",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({ command: counting(40_000) });
      await ready(terminal);
      const gathered = new Gatherer();
      const bug = new ApplicationError("in a watcher");
      terminal.onOutput(() => {
        throw bug;
      });
      terminal.onOutput(gathered.take);
      await until("the redraw", () => gathered.redraws.length > 0);
      await terminal.write("\n");
      await until("the count", () => gathered.text.includes("finished\r\n"));
      await until("the error", () => applicationErrors.includes(bug));
      assert.equal(gathered.text === counted(40_000), true);
      await soon("a call", trl.call("system.ping"));
    },
  },
];
