// A daemon in a storm: many clients that do whatever they like, weather, and then the books are balanced. At the end the
// daemon is told to end in the middle of it all.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type HttpDaemon, startHttp } from "../support/http.ts";
import { abilitiesOf } from "../support/isolation.ts";
import { Random } from "../support/random.ts";
import { tempDir } from "../support/temp-dir.ts";
import { Wire } from "../support/wire.ts";
import { Books } from "./books.ts";
import { type Holdings, holdingsOf, leftAfterEnd, leftSince, memoryOf } from "./daemon-under-test.ts";
import { FrontendClient, frontendSteps } from "./frontend-client.ts";
import { LibraryClient, librarySteps } from "./library-client.ts";
import { ProgramClient, programSteps } from "./program-client.ts";
import { commandSteps } from "./steps-commands.ts";
import { limitSteps } from "./steps-limits.ts";
import { maxLineBytes, simpleSteps } from "./steps-simple.ts";
import { terminalSteps } from "./steps-terminals.ts";
import { Weather, weatherSteps } from "./weather.ts";
import { type ListenerName, WireClient } from "./wire-client.ts";
import { type Step, World } from "./world.ts";

export const wireSteps = [...simpleSteps, ...commandSteps, ...terminalSteps, ...limitSteps];
const listeners: ListenerName[] = [
  "unix",
  "unix",
  "unix",
  "unix",
  "http",
  "http",
  "websocket",
  "websocket",
  "websocket",
];

/** One daemon lives about so long. */
const roundSeconds = 40;
/** Within it the storm is still from time to time, and it is looked whether anything was left. */
const stormSeconds = 10;
/** A daemon keeps up to 96 MB of what has ended and reads floods, and its engine collects when it likes: some 600 MB at most. */
const memoryMaxBytes = 1e9;

export async function chaos(seed: number, seconds: number): Promise<Books> {
  const books = new Books();
  const rounds = Math.max(1, Math.round(seconds / roundSeconds));
  for (let round = 0; round < rounds && books.problems.length === 0; round++)
    await liveRound(books, seed, round, seconds / rounds);
  return books;
}

async function liveRound(books: Books, seed: number, round: number, seconds: number): Promise<void> {
  using files = tempDir();
  mkdirSync(join(files.path, "run"));
  await using daemon = await startHttp({ flags: flagsOf(join(files.path, "run")) });
  books.isEnding = false;
  books.figures.rounds++;
  const sampler = setInterval(() => {
    books.figures.peakMemoryBytes = Math.max(books.figures.peakMemoryBytes, memoryOf(daemon.pid));
  }, 100);
  try {
    const canIsolate = await warmUp(daemon);
    const before = holdingsOf(daemon);
    const storms = Math.max(1, Math.round((seconds * 0.8) / stormSeconds));
    for (let storm = 0; storm < storms && books.problems.length === 0; storm++) {
      const world = new World(daemon, books, canIsolate);
      await rage(world, seed, `${round}.${storm}`, (seconds * 0.8) / storms);
      await balance(world, before);
    }
    if (books.problems.length === 0)
      await endInTheMiddle(new World(daemon, books, canIsolate), seed, round, seconds * 0.2);
  } finally {
    clearInterval(sampler);
  }
  for (const left of await leftAtLast(daemon, files.path)) books.problem(`left after the end: ${left}`);
  if (daemon.log().includes("internal error")) books.problem(`in the log: ${daemon.log()}`);
  if (books.figures.peakMemoryBytes > memoryMaxBytes)
    books.problem(`${books.figures.peakMemoryBytes} bytes of memory`);
}

const flagsOf = (runDir: string) => [
  ...["--run-dir", runDir],
  ...["--max-line-bytes", String(maxLineBytes)],
  ...["--max-sessions", "48"],
  ...["--session-max-commands", "0"],
  ...["--connection-max-commands", "4"],
  ...["--connection-max-requests", "64"],
  ...["--connection-max-bytes", "262144"],
  ...["--stall-timeout-s", "1"],
];

/** What is opened or loaded when it is first used is no leak. Gives whether the machine has limits and a sandbox. */
async function warmUp(daemon: HttpDaemon): Promise<boolean> {
  using wire = await Wire.connect(daemon.socketPath);
  const abilities = await abilitiesOf(wire);
  const canIsolate =
    abilities.sandbox.available && Object.values(abilities.limits).every((limit) => limit.available);
  const isolations = canIsolate
    ? [{}, { isolation: { limits: { pids: 50 } } }, { isolation: { sandbox: {} } }]
    : [{}];
  for (const params of isolations) {
    const { session_id } = await wire.call("session.create", params);
    await wire.call("exec.run", { session_id, command: "sleep 1000 & seq 1 100000" });
    await wire.call("session.destroy", { session_id, force: true });
    const terminal = await wire.call("pty.create", { command: "seq 1 100", ...params });
    await wire.call("pty.wait", { session_id: terminal.session_id, until: { exit: true } });
    await wire.call("pty.snapshot", { session_id: terminal.session_id });
  }
  await daemon.call("system.ping", {});
  return canIsolate;
}

/** All clients and the weather, for so long; then everybody finishes what they do. */
async function rage(world: World, seed: number, name: string, seconds: number): Promise<void> {
  const wires = listeners.map((listener, i) => new WireClient(world, `${listener}-${i}`, listener));
  await using bySocket = await LibraryClient.open(world, "library-unix", "unix");
  await using byWebSocket = await LibraryClient.open(world, "library-websocket", "websocket");
  const lives = [
    ...wires.map((client) => live(client, client.name, wireSteps)),
    live(bySocket, bySocket.name, librarySteps),
    live(byWebSocket, byWebSocket.name, librarySteps),
    live(new FrontendClient(world, "frontend"), "frontend", frontendSteps),
    live(new ProgramClient(world, "program"), "program", programSteps),
    live(new Weather(world, wires), "weather", weatherSteps),
  ];
  const timer = setTimeout(() => {
    world.isOver = true;
  }, seconds * 1000);
  await Promise.all(lives);
  clearTimeout(timer);
  for (const client of wires) client.kill();

  async function live<C>(client: C, who: string, steps: Step<unknown, C>[]): Promise<void> {
    for (let n = 0; !world.isOver; n++) {
      const { step, drawn } = decide(steps, seed, name, who, n);
      world.books.begin(who, name, n, step.name);
      const act = step.act(client, drawn).catch((error: Error) => `${error.stack ?? error}`);
      const wrong = await Promise.race([act, tooLong()]);
      if (wrong) world.books.problem(`${who}: ${wrong}`);
      if (world.books.isEnding) await Bun.sleep(5);
      if (world.books.problems.length > 0) world.isOver = true;
    }
  }
}

/** No step takes so long, but for what hangs. */
const stepMsMax = 45_000;
const tooLong = () =>
  new Promise<string>((resolve) => setTimeout(resolve, stepMsMax, `not done after ${stepMsMax} ms`).unref());

/** By nothing but the seed, the storm, the client and the number of its step. */
export function decide<C>(steps: Step<unknown, C>[], seed: number, storm: string, who: string, n: number) {
  const random = Random.for(seed, storm, who, n);
  const step = random.weighted(steps.map((each) => [each.weight, each] as [number, Step<unknown, C>]));
  return { step, drawn: step.draw(random) };
}

/** Everybody has gone: what they left is ended, and then the daemon holds what it held before. */
async function balance(world: World, before: Holdings): Promise<void> {
  const { books, daemon } = world;
  {
    using wire = await Wire.connect(daemon.socketPath);
    const { sessions } = await wire.call("session.list", {});
    await Promise.all(
      sessions.map(({ session_id }) => wire.request("session.destroy", { session_id, force: true })),
    );
    const stats = await wire.call("system.stats", {});
    for (const name of ["active_sessions", "running_commands", "pty_sessions", "subscribers"] as const)
      if (stats[name] !== 0) books.problem(`${name} is ${stats[name]} when everybody has gone`);
  }
  for (const left of await leftSince(before, daemon)) books.problem(`left after the storm: ${left}`);
  books.balance();
}

async function endInTheMiddle(world: World, seed: number, round: number, seconds: number): Promise<void> {
  const { books, daemon } = world;
  const raging = rage(world, seed, `${round}.end`, seconds + endPatienceMs / 1000);
  await Bun.sleep(seconds * 1000);
  books.isEnding = true;
  books.endingSince = performance.now();
  books.fault("daemon ended");
  daemon.kill("SIGTERM");
  daemon.kill("SIGCONT"); // where the weather has stopped it just now
  const code = await Promise.race([daemon.exited, Bun.sleep(endPatienceMs)]);
  if (code !== 0) books.problem(`the daemon ended with ${code ?? "nothing, in time"}`);
  world.isOver = true;
  await raging;
  books.balance();
}

const endPatienceMs = 15_000;

async function leftAtLast(daemon: HttpDaemon, files: string): Promise<string[]> {
  daemon.kill("SIGTERM");
  await daemon.exited;
  return [...leftAfterEnd(daemon), ...leftAfterEnd({ pid: daemon.pid, dir: files })];
}
