// A frontend: lines with `type`, no ids. Each message has its answer before the next one is sent.
import { openUnix } from "../support/carriers/unix.ts";
import { until } from "../support/wait.ts";
import { type Frame, Wire } from "../support/wire.ts";
import { type Step, step, type World } from "./world.ts";

export class FrontendClient {
  constructor(
    readonly world: World,
    readonly name: string,
  ) {}

  problem(text: string): void {
    this.world.books.problem(`${this.name}: ${text}`);
  }

  /** One that has proved itself. */
  async connect(): Promise<Wire | undefined> {
    try {
      const wire = await Wire.over((events) => openUnix(this.world.daemon.socketPath, events));
      await this.tell(wire, { type: "Auth", token: this.world.daemon.token }, "AuthResult");
      return wire;
    } catch (error) {
      if (!this.world.books.isEnding) this.problem(`cannot connect: ${error}`);
      return undefined;
    }
  }

  /** Sends a message and gives its answer; undefined where the daemon is gone. */
  async tell(wire: Wire, message: Frame, answer: string): Promise<Frame | undefined> {
    const { figures, isEnding } = this.world.books;
    const begin = wire.frames.length;
    figures.requests++;
    wire.sendFrame(message);
    const isAnswer = ({ type }: Frame) => type === answer || type === "Error";
    try {
      const frame = await until(
        answer,
        () => {
          if (wire.isClosed) throw new Error("closed");
          return wire.frames.slice(begin).find(isAnswer);
        },
        30_000,
      );
      figures.answered++;
      return frame;
    } catch (error) {
      figures.cutOff++;
      if (!isEnding && !this.world.books.isEnding) this.problem(`${message["type"]}: ${error}`);
      return undefined;
    }
  }
}

/** Each line that is typed into `cat` comes twice: as its echo, and as what was read. */
const type = step({
  name: "frontend: type",
  weight: 2,
  draw: (random) => ({
    lines: random.between(1, 5),
    word: `typed-${random.below(1e6)}`,
    isLeft: random.chance(0.3),
  }),
  async act(client: FrontendClient, { lines, word, isLeft }) {
    using wire = await client.connect();
    if (!wire) return;
    const { world } = client;
    const id = world.newTerminalId();
    const made = await client.tell(wire, { type: "CreateSession", id, shell: "/bin/cat" }, "SessionCreated");
    if (made?.["type"] !== "SessionCreated") return;
    wire.sendFrame({ type: "Subscribe", session_id: id });
    const shown = () => {
      const outputs = wire.frames.filter(({ type }) => type === "SessionOutput");
      return Buffer.concat(outputs.map(({ data }) => Buffer.from(data, "base64"))).toString("latin1");
    };
    for (let i = 0; i < lines && !world.mayHaveEnded(id); i++) {
      const line = `${word}-${i}.`;
      wire.sendFrame({ type: "WriteInput", session_id: id, data: `${line}\r` });
      await until(line, () => wire.isClosed || shown().split(line).length === 3, 30_000).catch(() => {
        if (!world.books.isEnding) client.problem(`${line} was not shown twice: ${JSON.stringify(shown())}`);
      });
    }
    world.books.figures.bytes += shown().length;
    if (isLeft) return world.terminals.add(id); // it lives on, for whoever ends it
    await client.tell(wire, { type: "CloseSession", session_id: id }, "SessionClosed");
  },
});

const ask = step({
  name: "frontend: ask",
  weight: 1,
  draw: (random) => random.between(1, 20),
  async act(client: FrontendClient, count) {
    using wire = await client.connect();
    if (!wire) return;
    for (let i = 0; i < count; i++) {
      if (!(await client.tell(wire, { type: "Ping" }, "Pong"))) return;
      if (!(await client.tell(wire, { type: "ListSessions" }, "SessionList"))) return;
      if (!(await client.tell(wire, { type: "Nonsense" }, "Error"))) return;
    }
  },
});

const stranger = step({
  name: "frontend: stranger",
  weight: 1,
  draw: (random) => random.pick(["wrong", "", "__proto__"]),
  async act(client: FrontendClient, token) {
    if (client.world.books.isEnding) return;
    client.world.books.fault("wrong token");
    const wire = await Wire.over((events) => openUnix(client.world.daemon.socketPath, events)).catch(
      () => undefined,
    );
    if (!wire) return;
    wire.sendFrame({ type: "Auth", token });
    wire.sendFrame({ type: "ListSessions" });
    await wire.untilClosed(30_000);
    const isRefused = wire.frames.length === 1 && wire.frames[0]!["ok"] === false;
    if (!isRefused && !client.world.books.isEnding) client.problem(`let in: ${JSON.stringify(wire.frames)}`);
  },
});

export const frontendSteps: Step<unknown, FrontendClient>[] = [type, ask, stranger];
