// A client that shows the wire as it is: raw bytes out, frames in.
import type { MethodName, Params, Result } from "../../src/protocol/methods.ts";
import type { Carrier, CarrierEvents } from "./carriers/carrier.ts";
import { openUnix } from "./carriers/unix.ts";
import { hangMs } from "./wait.ts";

// biome-ignore lint/suspicious/noExplicitAny: a frame is whatever the daemon sent
export type Frame = Record<string, any>;

/** Of all wires together: some of them share a connection. */
let nextId = 1;

export class Wire implements Disposable {
  readonly frames: Frame[] = [];
  readonly rawLines: string[] = [];
  isClosed = false;
  /** A flood is better looked at as it passes. */
  keepsFrames = true;
  onFrame: ((frame: Frame) => void) | undefined;
  #carrier!: Carrier;
  #wake: (() => void)[] = [];

  static connect(path: string): Promise<Wire> {
    return Wire.over((events) => openUnix(path, events));
  }

  static async over(open: (events: CarrierEvents) => Carrier | Promise<Carrier>): Promise<Wire> {
    const wire = new Wire();
    wire.#carrier = await open({
      line: (text) => wire.#receive(text),
      closed: () => wire.#closed(),
    });
    return wire;
  }

  send(bytes: string | Uint8Array): void {
    this.#carrier.send(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  }

  sendFrame(frame: unknown): void {
    this.send(`${JSON.stringify(frame)}\n`);
  }

  /** Half-close: no more requests, but replies still come. */
  endInput(): void {
    this.#carrier.endInput();
  }

  pause(): void {
    this.#carrier.pause();
  }

  resume(): void {
    this.#carrier.resume();
  }

  /** The first frame for which the test holds, whether it has come already or not. */
  async frame(matches: (frame: Frame) => boolean, timeoutMs = hangMs): Promise<Frame> {
    const deadline = performance.now() + timeoutMs;
    for (let seen = 0; ; ) {
      for (; seen < this.frames.length; seen++) if (matches(this.frames[seen]!)) return this.frames[seen]!;
      if (this.isClosed) throw new Error("the daemon closed the connection");
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`no such frame within ${timeoutMs} ms`);
      await this.#change(left);
    }
  }

  async untilClosed(timeoutMs = hangMs): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!this.isClosed) {
      if (performance.now() > deadline) throw new Error("the connection was not closed");
      await this.#change(deadline - performance.now());
    }
  }

  /** The whole reply frame, error or not. */
  async request(method: string, params?: unknown): Promise<Frame> {
    const id = `w${nextId++}`;
    this.sendFrame({ id, method, params });
    return await this.frame((frame) => frame["id"] === id, 120_000);
  }

  /** The data of a reply that must be ok. */
  async call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const reply = await this.request(method, params);
    if (!reply["ok"]) throw new Error(`${method}: ${JSON.stringify(reply["error"])}`);
    return reply["data"];
  }

  /** The error of a reply that must not be ok. */
  async fail(method: string, params?: unknown): Promise<{ code: string; message: string; data?: Frame }> {
    const reply = await this.request(method, params);
    if (reply["ok"]) throw new Error(`${method} was expected to fail: ${JSON.stringify(reply["data"])}`);
    return reply["error"];
  }

  [Symbol.dispose](): void {
    this.#carrier.terminate();
  }

  #receive(line: string): void {
    if (this.keepsFrames) this.rawLines.push(line);
    const frame = JSON.parse(line) as Frame;
    this.onFrame?.(frame);
    if (this.keepsFrames || !this.onFrame || "id" in frame || frame["type"] === "exit")
      this.frames.push(frame);
    this.#notify();
  }

  #closed(): void {
    this.isClosed = true;
    this.#notify();
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  #change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
