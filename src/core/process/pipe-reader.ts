// Reads one pipe to its end and passes the bytes to the current sink. Backpressure: while the sink is busy the reader does
// not read, so the writing program blocks, as on any pipe.

import { closeSync } from "node:fs";
import { freeChunk } from "../../platform/garbage.ts";
import { hasInput, widenPipe } from "../../platform/libc.ts";
import { readGate } from "../../platform/read-gate.ts";

/** The largest buffer of a pipe that Linux allows without privilege; the default is a sixteenth of it. */
const pipeMaxBytes = 1024 * 1024;

/** After this much output the program is likely to print more. */
const floodBytes = 1024 * 1024;

/** The sink may use the chunk until it returns, or until its promise resolves. */
export type Sink = (chunk: Uint8Array) => void | Promise<void>;

export class PipeReader {
  /** Resolves at end of file (every writer has closed the pipe) or after `stop`. */
  readonly ended: Promise<void>;
  #sink: Sink;
  #resolveSink: (sink: Sink) => void = () => {};
  #reader: StreamReader | undefined;
  #bytes = 0;
  #sinkBusy: Promise<void> | undefined;
  #isEnded = false;

  /** Without a sink, the first chunk waits for `deliverTo`. */
  constructor(
    readonly fd: number,
    sink?: Sink,
  ) {
    this.#sink = sink ?? this.#laterSink();
    this.ended = this.#pump();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The sink has everything that was read: the rest is still in the pipe. */
  get isAtRest(): boolean {
    return this.#sinkBusy === undefined;
  }

  deliverTo(sink: Sink): void {
    this.#sink = sink;
    this.#resolveSink(sink);
  }

  /** Reads and drops the rest, so that a leftover process never blocks on the pipe. */
  discardRest(): void {
    this.deliverTo(() => {});
  }

  /** Stops reading and closes the pipe; a process that still writes gets SIGPIPE. */
  async stop(): Promise<void> {
    this.discardRest();
    if (!this.#isEnded) await this.#reader?.cancel().catch(() => {});
    await this.ended;
  }

  /**
   * Resolves when the sink has everything that was written before the call. It does not wait for the end of the pipe: a
   * background process may hold it open for hours. If that process writes all the time, it resolves after `maxMs` of
   * reading, or after more bytes than a pipe can hold. Time that a slow sink takes does not count.
   */
  async drained(maxMs: number): Promise<void> {
    const bytesMax = this.#bytes + pipeMaxBytes;
    let leftMs = maxMs;
    // Bytes that have left the pipe reach the sink within one turn, so the pipe must be empty in two turns in a row.
    let quietTurns = this.#isQuiet ? 1 : 0;
    while (quietTurns < 2 && !this.#isEnded && leftMs > 0 && this.#bytes < bytesMax) {
      const before = this.#bytes;
      const began = performance.now();
      const wasBusy = this.#sinkBusy !== undefined;
      await (this.#sinkBusy ?? nextTurn());
      if (!wasBusy) leftMs -= performance.now() - began;
      const isQuiet = before === this.#bytes && this.#isQuiet;
      quietTurns = isQuiet ? quietTurns + 1 : 0;
    }
  }

  get #isQuiet(): boolean {
    return !this.#isEnded && !this.#sinkBusy && !hasInput(this.fd);
  }

  #laterSink(): Sink {
    const { promise, resolve } = Promise.withResolvers<Sink>();
    this.#resolveSink = resolve;
    return async (chunk) => (await promise)(chunk);
  }

  async #pump(): Promise<void> {
    try {
      if (readGate.whenOpen) await readGate.whenOpen;
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
        freeChunk(value);
      }
    } catch {
      // A terminal ends with EIO after its slave is closed.
    } finally {
      this.#isEnded = true;
      closeSync(this.fd);
    }
  }
}

const readerOf = (fd: number) => Bun.file(fd).stream().getReader();
type StreamReader = ReturnType<typeof readerOf>;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
