// The daemon dies in the middle of everything.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import type { Terminal, Trl } from "trl/client";
import { type Case, type Daemon, failure, soon, until, type World } from "../world.ts";
import { textOf } from "./streams.ts";

interface Mortal {
  trl: Trl;
  kill(): Promise<void>;
  daemon: Daemon | undefined;
}

async function mortal(world: World, patienceS: number): Promise<Mortal> {
  if (world.transport !== "stdio") {
    const daemon = await world.ownDaemon();
    return { trl: await world.connect({ patienceS }, daemon), kill: () => daemon.kill(), daemon };
  }
  const trl = await world.connect({ patienceS });
  const pid = world.childPid();
  return { trl, kill: async () => void process.kill(pid, "SIGKILL"), daemon: undefined };
}

/** Everything that can be waited for, by name. */
async function allThatWaits(world: World, trl: Trl): Promise<Record<string, () => Promise<unknown>>> {
  const session = () => trl.session();
  const [running, read, unread, left, fed, idle] = await Promise.all([
    session(),
    session(),
    session(),
    session(),
    session(),
    session(),
  ]);
  const terminal = await trl.terminal({ command: "stty raw -echo; sleep 60" });
  const mark = world.path("mark");
  const run = running.run(`touch ${mark}; sleep 60`);
  const reading = textOf(read.stream("yes | head -c 300000; sleep 60"));
  const unreadStream = unread.stream("yes");
  const leftStream = left.stream("yes");
  for await (const _ of leftStream) break;
  const fedStream = fed.stream("sleep 60", { openStdin: true });
  const written = fedStream.write("x".repeat(4 * 1024 * 1024));
  const typed = terminal.write("x".repeat(4 * 1024 * 1024));
  const waits = {
    run,
    reading,
    "exited of what is not read": unreadStream.exited,
    written,
    typed,
    wait: terminal.wait({ text: "never" }, { timeoutS: 60 }),
    "exited of a terminal": terminal.exited,
    watched: watched(terminal),
  };
  for (const promise of Object.values(waits)) promise.catch(() => {});
  await until("the run", () => existsSync(mark));
  return {
    ...Object.fromEntries(Object.entries(waits).map(([name, promise]) => [name, () => promise])),
    "a call afterwards": () => trl.call("session.create", {}),
    "a run afterwards": () => idle.run("true"),
    "a stream afterwards": () => textOf(idle.stream("true")),
    "a loop that is taken up again": () => textOf(leftStream),
    "a watch afterwards": () => watched(terminal),
  };
}

const watched = (terminal: Terminal) =>
  new Promise<never>((_, reject) => {
    terminal.watch({ error: reject });
  });

export const deaths: Case[] = [
  {
    name: "death: whatever waits is told, and nothing hangs",
    async run(world) {
      const { trl, kill } = await mortal(world, 1);
      const waits = await allThatWaits(world, trl);
      await kill();
      await Promise.all(
        Object.entries(waits).map(([name, promise]) => failure(name, promise(), "RUNTIME_UNAVAILABLE")),
      );
      await soon("close", trl.close());
    },
  },
  {
    name: "death: what a child was doing is over at once, whatever the patience",
    on: ["stdio"],
    async run(world) {
      const { trl, kill } = await mortal(world, 600);
      const states: string[] = [];
      trl.onState((state) => states.push(state));
      const session = await trl.session();
      const running = failure("a run", session.run("sleep 60"), "RUNTIME_UNAVAILABLE");
      await kill();
      await running;
      await failure("a call", trl.call("system.ping"), "RUNTIME_UNAVAILABLE");
      assert.deepEqual(states.at(-1), "disconnected");
    },
  },
  {
    name: "death: with a new daemon in its place the next calls work, and what was is not there",
    on: ["socket"],
    async run(world) {
      const { trl, kill, daemon } = await mortal(world, 20);
      const session = await trl.session();
      const terminal = await trl.terminal({ command: "cat" });
      await kill();
      const asked = trl.call("system.ping"); // waits for whoever comes
      await world.ownDaemon(daemon!.socket);
      await soon("what was asked meanwhile", asked);
      await failure("the old session", session.run("true"), "SESSION_NOT_FOUND");
      await failure("the old terminal", terminal.write("x"), "SESSION_NOT_FOUND");
      await using fresh = await trl.session();
      assert.equal((await fresh.run("printf new")).stdout, "new");
    },
  },
  {
    name: "death: behind a proxy, a new daemon that knows nothing of it is told to all who wait",
    on: ["socket"],
    run: (world) => diesBehindProxy(world, "SESSION_NOT_FOUND", (socket) => rmSync(journalOf(socket))),
  },
  {
    name: "death: behind a proxy, a new daemon that has the journal says that all is lost",
    on: ["socket"],
    run: (world) => diesBehindProxy(world, "RUNTIME_UNAVAILABLE", () => {}),
  },
];

const journalOf = (socket: string) => socket.replace(/\.sock$/, ".journal");

/** What is watched is found again by attaching: what the new daemon knows of a terminal is what is told. */
async function diesBehindProxy(
  world: World,
  ofTerminal: "SESSION_NOT_FOUND" | "RUNTIME_UNAVAILABLE",
  between: (socket: string) => void,
): Promise<void> {
  const first = await world.ownDaemon();
  const { trl, proxy } = await world.overProxy({ patienceS: 20 }, first);
  const [one, two] = [await trl.session(), await trl.session()];
  const terminal = await trl.terminal({ command: "cat" });
  const mark = world.path("mark");
  const run = failure("the run", one.run(`touch ${mark}; sleep 60`), "RUNTIME_UNAVAILABLE");
  const stream = two.stream("echo begun; sleep 60");
  const reading = failure("the loop", textOf(stream), "RUNTIME_UNAVAILABLE");
  const watching = failure("the terminal", watched(terminal), ofTerminal);
  const exited = failure("its end", terminal.exited, ofTerminal);
  await stream.started;
  await until("the run", () => existsSync(mark));
  const journal = journalOf(first.socket);
  await until("the journal", () => existsSync(journal) && readFileSync(journal, "utf8").includes(stream.id));
  proxy.isAway = true;
  await first.kill();
  between(first.socket);
  await world.ownDaemon(first.socket);
  proxy.isAway = false;
  await Promise.all([run, reading, watching, exited]);
}
