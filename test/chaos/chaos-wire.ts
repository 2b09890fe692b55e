// A client on the wire that keeps the books: each request has one answer, in the shape that the table gives it, and
// each frame belongs to something that is followed.
import * as v from "valibot";
import { errorCodes } from "../../src/protocol/errors.ts";
import { isMethodName, methods } from "../../src/protocol/methods.ts";
import type { Carrier, CarrierEvents } from "../support/carriers/carrier.ts";
import type { Frame } from "../support/wire.ts";
import type { Books } from "./books.ts";
import type { RemoteSubscription } from "./follower.ts";

/** Longer than anything takes here, stopped daemons included. */
const patienceMs = 30_000;

/** Stopped daemons and a busy machine included. */
const longBeforeMs = 1500;

interface Asked {
  method: string;
  since: number;
  settle(reply: Frame | undefined): void;
  /** At once: what follows the reply may come in the same piece. */
  onReply: ((reply: Frame) => void) | undefined;
  timer: Timer;
}

export type OpenCarrier = (events: CarrierEvents) => Carrier | Promise<Carrier>;

let nextId = 1;

export class ChaosWire {
  isGone = false;
  /** By ourselves. */
  #isKilled = false;
  /** We have closed our side: the daemon closes its own when all is answered. */
  #isEnded = false;
  /** When it last began to read again. */
  #lastPause = 0;
  readonly #asked = new Map<string, Asked>();
  readonly #followed = new Map<string, RemoteSubscription>();
  /** Of lines that cannot be read as a request. */
  readonly #nameless: Asked[] = [];
  #carrier!: Carrier;

  private constructor(
    readonly books: Books,
    readonly name: string,
  ) {}

  /** Undefined where the daemon takes nobody any more. */
  static async open(books: Books, name: string, open: OpenCarrier): Promise<ChaosWire | undefined> {
    const wire = new ChaosWire(books, name);
    try {
      wire.#carrier = await open({ line: (text) => wire.#receive(text), closed: () => wire.#closed() });
      return wire;
    } catch (error) {
      if (!books.isEnding) books.problem(`${name}: cannot connect: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Undefined where there is no answer, as the connection is gone. */
  ask(method: string, params: unknown, onReply?: (reply: Frame) => void): Promise<Frame | undefined> {
    const id = `c${nextId++}`;
    const answer = this.expect(id, method, onReply);
    this.send(`${JSON.stringify({ id, method, params })}\n`);
    return answer;
  }

  /** An answer that will come to what is sent next; without an id it is that to a line that cannot be read. */
  expect(
    id: string | undefined,
    method: string,
    onReply?: (reply: Frame) => void,
  ): Promise<Frame | undefined> {
    this.books.figures.requests++;
    const { promise, resolve } = Promise.withResolvers<Frame | undefined>();
    const timer = setTimeout(() => this.#late(id, method), patienceMs);
    const asked = { method, since: performance.now(), settle: resolve, onReply, timer };
    if (this.isGone) this.#drop(asked);
    else if (id === undefined) this.#nameless.push(asked);
    else this.#asked.set(id, asked);
    return promise;
  }

  send(bytes: string | Uint8Array): void {
    if (!this.isGone) this.#carrier.send(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  }

  follow(id: string, followed: RemoteSubscription): void {
    if (this.isGone) followed.gone();
    else this.#followed.set(id, followed);
  }

  unfollow(id: string): void {
    this.#followed.delete(id);
  }

  pause(): void {
    this.#lastPause = Number.POSITIVE_INFINITY;
    if (!this.isGone) this.#carrier.pause();
  }

  resume(): void {
    this.#lastPause = performance.now();
    if (!this.isGone) this.#carrier.resume();
  }

  endInput(): void {
    this.#isEnded = true;
    if (!this.isGone) this.#carrier.endInput();
  }

  /** In the middle of whatever it does. */
  kill(): void {
    if (this.isGone) return;
    this.#isKilled = true;
    this.#carrier.terminate();
    this.#closed();
  }

  #receive(line: string): void {
    if (this.isGone) return; // what was on its way
    let frame: Frame;
    try {
      frame = JSON.parse(line);
    } catch {
      this.books.problem(`${this.name}: not JSON: ${line}`);
      return;
    }
    if ("id" in frame) this.#reply(frame);
    else this.#frame(frame);
  }

  #reply(reply: Frame): void {
    const { id } = reply;
    const asked = id === "unknown" ? this.#nameless.shift() : this.#asked.get(id);
    if (!asked) {
      this.books.problem(`${this.name}: answered twice or unasked: ${JSON.stringify(reply)}`);
      return;
    }
    this.#asked.delete(id);
    clearTimeout(asked.timer);
    this.books.figures.answered++;
    const wrong = wrongReply(asked.method, reply);
    if (wrong) this.books.problem(`${this.name}: ${asked.method}: ${wrong}: ${JSON.stringify(reply)}`);
    asked.onReply?.(reply);
    asked.settle(reply);
  }

  #frame(frame: Frame): void {
    this.books.figures.frames++;
    const id = frame["stream_id"] ?? frame["session_id"];
    const followed = this.#followed.get(id);
    const wrong = followed ? (wrongFrame(frame) ?? followed.take(frame)) : "a frame of what is not followed";
    if (frame["type"] === "exit" || frame["type"] === "lagged") this.#followed.delete(id);
    if (wrong) this.books.problem(`${this.name}: ${id}: ${wrong}: ${JSON.stringify(frame).slice(0, 300)}`);
  }

  #late(id: string | undefined, method: string): void {
    this.books.problem(`${this.name}: ${method} (${id}) was not answered within ${patienceMs} ms`);
  }

  #closed(): void {
    if (this.isGone) return;
    this.isGone = true;
    const open = [...this.#asked.values(), ...this.#nameless];
    const isFair = this.#isKilled || (this.#isEnded && open.length === 0);
    if (!isFair && !this.books.isEnding)
      this.books.problem(`${this.name}: the daemon closed the connection, with ${open.length} requests open`);
    for (const asked of open) this.#drop(asked);
    this.#asked.clear();
    this.#nameless.length = 0;
    for (const followed of this.#followed.values()) followed.gone();
    this.#followed.clear();
  }

  #drop(asked: Asked): void {
    clearTimeout(asked.timer);
    const { figures, isEnding } = this.books;
    if (!isEnding || this.#isKilled) figures.abandoned++;
    else {
      figures.cutOff++;
      // What has come long before is answered, and be it with its end; only what comes in the last moment is not.
      const early = this.books.endingSince - longBeforeMs;
      if (asked.since < early && this.#lastPause < early)
        this.books.problem(`${this.name}: ${asked.method} was asked long before the end and never answered`);
    }
    asked.settle(undefined);
  }
}

function wrongReply(method: string, reply: Frame): string | undefined {
  const { ok, data, error } = reply;
  if (!ok) {
    if (!Object.hasOwn(errorCodes, error?.code) || typeof error.message !== "string") return "no such error";
    return error.code === "INTERNAL_ERROR" ? "a bug" : undefined;
  }
  if (!isMethodName(method)) return "it should have been refused";
  const checked = v.safeParse(methods[method].result, data);
  return checked.success ? undefined : `not its result: ${v.summarize(checked.issues)}`;
}

const events: Record<"stream_id" | "session_id", Record<string, v.GenericSchema>> = {
  stream_id: methods["exec.stream"].events,
  session_id: methods["pty.subscribe"].events,
};

function wrongFrame(frame: Frame): string | undefined {
  const schema = events["stream_id" in frame ? "stream_id" : "session_id"][frame["type"]];
  return schema && v.is(schema, frame) ? undefined : "no such frame";
}
