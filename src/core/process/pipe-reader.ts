// Reads one pipe to its end and hands the bytes to whoever is the sink at the time. The reader stops reading
// while the sink is busy: the writing program then blocks, as on any pipe.
import { closeSync } from "node:fs";
import { hasInput, widenPipe } from "../../platform/libc.ts";
import { rollBack } from "../../platform/garbage.ts";
import { readGate } from "../../platform/read-gate.ts";

/** The most that Linux lets a pipe hold without privilege; the usual is a sixteenth of it. */
const pipeMaxBytes = 1024 * 1024;

/** Who prints so much prints more. */
const floodBytes = 1024 * 1024;

/** The chunk is the sink's until it is done with it. */
export type Sink = (chunk: Uint8Array) => void | Promise<void>;

export class PipeReader {
  /** Resolves when the pipe has ended (every writer has closed it) or reading was stopped. */
  readonly ended: Promise<void>;
  #sink: Sink;
  #sinkFound: (sink: Sink) => void = () => {};
  #reader: StreamReader | undefined;
  #bytes = 0;
  #sinkBusy: Promise<void> | undefined;
  #isEnded = false;

  /** Without a sink what comes is kept for the one that will be given. */
  constructor(
    readonly fd: number,
    sink?: Sink,
  ) {
    this.#sink = sink ?? this.#sinkToCome();
    this.ended = this.#pump();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** All that has been read is with the sink: what comes next is still in the pipe. */
  get isAtRest(): boolean {
    return this.#sinkBusy === undefined;
  }

  deliverTo(sink: Sink): void {
    this.#sink = sink;
    this.#sinkFound(sink);
  }

  /** What comes from now on is read and dropped, so that a process left behind never blocks on it. */
  discardRest(): void {
    this.deliverTo(() => {});
  }

  /** Reads no more and closes the pipe; whoever still writes gets SIGPIPE. */
  async stop(): Promise<void> {
    this.discardRest();
    if (!this.#isEnded) await this.#reader?.cancel().catch(() => {});
    await this.ended;
  }

  /**
   * Resolves when all that was written before the call has reached the sink. The end of the pipe is not waited
   * for: a background process may hold it open for hours, and even write to it all the time; then it is over
   * after `maxMs` of reading or more bytes than a pipe can have held. Waiting for a slow sink does not count.
   */
  async drained(maxMs: number): Promise<void> {
    const bytesMax = this.#bytes + pipeMaxBytes;
    let leftMs = maxMs;
    // What has left the pipe reaches the sink within one turn. So it takes a pipe that is empty and one turn after that.
    let quietLooks = this.#isQuiet ? 1 : 0;
    while (quietLooks < 2 && !this.#isEnded && leftMs > 0 && this.#bytes < bytesMax) {
      const before = this.#bytes;
      const began = performance.now();
      const wasBusy = this.#sinkBusy !== undefined;
      await (this.#sinkBusy ?? nextTurn());
      if (!wasBusy) leftMs -= performance.now() - began;
      const isQuiet = before === this.#bytes && this.#isQuiet;
      quietLooks = isQuiet ? quietLooks + 1 : 0;
    }
  }

  get #isQuiet(): boolean {
    return !this.#isEnded && !this.#sinkBusy && !hasInput(this.fd);
  }

  #sinkToCome(): Sink {
    const { promise, resolve } = Promise.withResolvers<Sink>();
    this.#sinkFound = resolve;
    return async (chunk) => (await promise)(chunk);
  }

  async #pump(): Promise<void> {
    try {
      if (readGate.over) await readGate.over;
      const reader = readerOf(this.fd);
      this.#reader = reader;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        if (this.#bytes < floodBytes && this.#bytes + value.length >= floodBytes) widenPipe(this.fd);
        this.#bytes += value.length;
        this.#sinkBusy = this.#sink(value) || undefined;
        if (this.#sinkBusy) await this.#sinkBusy;
        this.#sinkBusy = undefined;
        rollBack(value);
      }
    } catch {
      // So ends a terminal of which the other side is gone.
    } finally {
      this.#isEnded = true;
      closeSync(this.fd);
    }
  }
}

const readerOf = (fd: number) => Bun.file(fd).stream().getReader();
type StreamReader = ReturnType<typeof readerOf>;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
