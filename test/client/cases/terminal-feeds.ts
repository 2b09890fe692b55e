// Who watches a terminal, how fast, and who else.
import assert from "node:assert/strict";
import type { OutputInfo, Terminal, TerminalExit } from "trl/client";
import { type Case, soon, until } from "../world.ts";
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
      await until("the count", () => first.text.includes("finished"));
      stop();
      assert.deepEqual(first.redraws, []);
      assert.equal(first.text === `ready\r\n${counted(5000)}`, true);
      const before = first.text;
      const second = new Gatherer();
      terminal.onOutput(second.take, { replay: "none" });
      await trl.call("system.ping");
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
        await until("more", () => gathered.text.length > seen || gathered.text.includes("finished"));
        stop();
        stop = terminal.onOutput(gathered.take, { from: gathered.next! });
      }
      await until("the count", () => gathered.text.includes("finished"));
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
      await until("both counts", () => first.text.includes("finished") && second.text.includes("finished"));
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
    name: "watch: a watcher that throws disturbs no other, and is heard of",
    async run(world) {
      const trl = await world.connect();
      await using terminal = await trl.terminal({ command: counting(40_000) });
      await ready(terminal);
      const problems: unknown[] = [];
      const gathered = new Gatherer();
      const hear = (error: unknown) => void problems.push(error);
      const others = process.listeners("uncaughtException");
      process.removeAllListeners("uncaughtException");
      process.on("uncaughtException", hear);
      terminal.onOutput(() => {
        throw new Error("a bug of the application");
      });
      terminal.onOutput(gathered.take);
      await until("the redraw", () => gathered.redraws.length > 0);
      await terminal.write("\n");
      await until("the count", () => gathered.text.includes("finished"));
      await until("the error", () => problems.length > 0);
      process.removeListener("uncaughtException", hear);
      for (const listener of others) process.on("uncaughtException", listener);
      assert.equal(gathered.text === counted(40_000), true);
      await soon("a call", trl.call("system.ping"));
    },
  },
];
