// The client library on a line that is cut again and again: streams, runs and terminals do not notice.

import { connect } from "../../src/client/connect.ts";
import { ConnectionError, isTrlError } from "../../src/client/errors.ts";
import type { Session } from "../../src/client/session.ts";
import type { Trl } from "../../src/client/trl.ts";
import { type Cuttable, cuttable } from "../support/cuttable.ts";
import { type CuttableProxy, cuttableProxy } from "../support/cuttable-proxy.ts";
import type { Random } from "../support/random.ts";
import { drawCommand, drawLast, exactly, type KnownCommand, seqText } from "./outputs.ts";
import { type Step, step, type World } from "./world.ts";

interface Line extends AsyncDisposable {
  cut(): void;
}

export class LibraryClient implements AsyncDisposable {
  #session: Session | undefined;

  private constructor(
    readonly world: World,
    readonly name: string,
    readonly trl: Trl,
    readonly line: Line,
  ) {}

  static async open(world: World, name: string, way: "unix" | "websocket"): Promise<LibraryClient> {
    const { daemon } = world;
    if (way === "unix") {
      const line: Cuttable = await cuttable(daemon.socketPath);
      return new LibraryClient(world, name, await connect({ socket: line.path }), line);
    }
    const proxy: CuttableProxy = await cuttableProxy();
    proxy.to(daemon.port);
    const line = {
      cut() {
        proxy.cut();
        proxy.mend();
      },
      [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
    };
    return new LibraryClient(world, name, await connect({ url: proxy.url, token: daemon.token }), line);
  }

  get books() {
    return this.world.books;
  }

  problem(text: string): void {
    this.books.problem(`${this.name}: ${text}`);
  }

  /** Undefined where the line was cut while it was made: then nobody knows its id. */
  async session(): Promise<Session | undefined> {
    this.#session ??= await this.trl.session();
    return this.#session;
  }

  /** What the library may throw when its line is cut, and nothing else. */
  async attempt(what: string, action: () => Promise<void>): Promise<void> {
    try {
      this.books.figures.requests++;
      await action();
      this.books.figures.answered++;
    } catch (error) {
      const isFair =
        this.books.isEnding ||
        (error instanceof ConnectionError && error.mayHaveRun) ||
        isTrlError(error, "MAX_SESSIONS_REACHED");
      if (!isFair) this.problem(`${what}: ${error}`);
      if (this.books.isEnding) this.books.figures.cutOff++;
      else this.books.figures.abandoned++;
    }
  }

  cutLater(afterMs: number | undefined): Promise<void> {
    if (afterMs === undefined) return Promise.resolve();
    return Bun.sleep(afterMs).then(() => {
      this.books.fault("line cut");
      this.line.cut();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.trl.close();
    await this.line[Symbol.asyncDispose]();
  }
}

const drawCut = (random: Random) => random.pick([undefined, 0, 2, 10, 30]);

const run = step({
  name: "library: run",
  weight: 3,
  draw: (random) => ({ known: drawCommand(random), cut: drawCut(random) }),
  async act(client: LibraryClient, { known, cut }) {
    let session: Session | undefined;
    await client.attempt("session", async () => {
      session = await client.session();
    });
    if (!session) return;
    const cutting = client.cutLater(cut);
    await client.attempt(`run ${known.command}`, async () => {
      const { stdin } = known;
      const options = stdin === undefined ? {} : { stdin };
      const result = await session!.run(known.command, { ...options, encoding: "bytes" });
      client.books.figures.bytes += result.stdoutBytes + result.stderrBytes;
      const { stdout } = known;
      const isRight =
        result.exitCode === known.exitCode &&
        result.stdout.length === stdout.length &&
        stdout.matches(0, result.stdout);
      if (!isRight && !client.books.isEnding)
        client.problem(`run ${known.command}: exit ${result.exitCode}, ${result.stdout.length} bytes`);
    });
    await cutting;
  },
});

const stream = step({
  name: "library: stream",
  weight: 3,
  draw: (random) => ({
    known: drawCommand(random),
    cuts: [drawCut(random), drawCut(random)],
    pauseMs: random.pick([0, 1]),
  }),
  async act(client: LibraryClient, { known, cuts, pauseMs }) {
    let session: Session | undefined;
    await client.attempt("session", async () => {
      session = await client.session();
    });
    if (!session) return;
    const cutting = Promise.all(cuts.map((cut) => client.cutLater(cut)));
    await client.attempt(`stream ${known.command}`, () => readStream(client, session!, known, pauseMs));
    await cutting;
  },
});

async function readStream(
  client: LibraryClient,
  session: Session,
  known: KnownCommand,
  pauseMs: number,
): Promise<void> {
  const { stdin } = known;
  const options = stdin === undefined ? {} : { stdin };
  const following = session.stream(known.command, { ...options, encoding: "bytes" });
  const next = { stdout: 0, stderr: 0 };
  for await (const { type, data, offset, missing } of following) {
    if (offset !== next[type] || missing) client.problem(`stream: ${type} at ${offset}, not ${next[type]}`);
    if (!known[type].matches(offset, data)) client.problem(`stream: other bytes than expected at ${offset}`);
    next[type] = offset + data.length;
    client.books.figures.bytes += data.length;
    client.books.figures.frames++;
    if (pauseMs > 0) await Bun.sleep(pauseMs);
  }
  const { exitCode } = await following.exited;
  if (client.books.isEnding) return;
  if (exitCode !== known.exitCode || next.stdout !== known.stdout.length)
    client.problem(`stream ${known.command}: exit ${exitCode}, ${next.stdout} bytes`);
}

const terminal = step({
  name: "library: terminal",
  weight: 2,
  draw: (random) => ({ last: drawLast(random), cut: drawCut(random) }),
  async act(client: LibraryClient, { last, cut }) {
    // The echo of what is typed comes first.
    const expected = exactly(Buffer.concat([Buffer.from("\r\n"), seqText(last, "\r\n")]));
    const cutting = client.cutLater(cut);
    await client.attempt("terminal", async () => {
      const made = await client.trl.terminal({ command: `read line; seq 1 ${last}`, cols: 80, rows: 24 });
      let next: number | undefined;
      made.onOutput((data, { isRedraw, offset }) => {
        if (!isRedraw) {
          client.books.figures.bytes += data.length;
          if (offset !== (next ?? offset)) client.problem(`terminal: output at ${offset} instead of ${next}`);
          if (!expected.matches(offset, data))
            client.problem(`terminal: other bytes than expected at ${offset}`);
        }
        next = isRedraw ? offset : offset + data.length;
      });
      await made.write("\r");
      const { exitCode } = await made.exited;
      if (exitCode !== 0 && !client.books.isEnding) client.problem(`terminal: exit ${exitCode}`);
    });
    await cutting;
  },
});

export const librarySteps: Step<unknown, LibraryClient>[] = [run, stream, terminal];
