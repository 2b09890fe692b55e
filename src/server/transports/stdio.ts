// Standard input and output as the connection of one client. The parent process holds these pipes, so the frontend
// dialect needs no authentication here.

import { PipeWriter } from "../../core/process/pipe-writer.ts";
import { isReaderGone } from "../../platform/libc.ts";
import type { Connection } from "../connection.ts";
import { pipeBytesMax, readerCheckMs } from "../limits.ts";
import type { Server } from "../server.ts";
import { untilDrained } from "./drain.ts";
import type { Listener } from "./listener.ts";
import type { TransportStream } from "./transport-stream.ts";

export class StdioListener implements Listener {
  readonly listening = undefined;
  /** Resolves when the input has ended and is answered, or when standard output has no reader any more. */
  readonly ended: Promise<string>;
  readonly #server: Server;
  readonly #output: PipeWriter;
  readonly #connection: Connection;
  readonly #resolveEnded: (why: string) => void;
  /** Pending while reading is paused. */
  #pause: PromiseWithResolvers<void> | undefined;

  constructor(server: Server, standardOutput = 1) {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#server = server;
    this.#output = new PipeWriter(standardOutput, {
      onDrained: () => this.#connection.writable(),
      onReaderClosed: () => this.#readerGone(),
    });
    this.#connection = server.connect(this.#stream());
    this.#connection.trust();
    const check = setInterval(() => isReaderGone(standardOutput) && this.#readerGone(), readerCheckMs);
    void this.ended.then(() => clearInterval(check));
    void this.#read();
  }

  get isSending(): boolean {
    return this.#connection.isSending;
  }

  stopAccepting(): void {}

  stopStreaming(): void {}

  closeConnections(): void {} // the client could not reconnect

  async drainAndClose(): Promise<void> {
    await untilDrained(
      () => this.#connection.isBusy || this.#output.pendingBytes > 0,
      () => this.#server.counters.bytesOut - this.#output.pendingBytes,
    );
    this.#connection.closed();
  }

  async #read(): Promise<void> {
    for await (const chunk of Bun.stdin.stream()) {
      await this.#pause?.promise;
      if (this.#connection.isClosed) return;
      this.#connection.receive(chunk);
    }
    this.#connection.endOfInput();
  }

  #stream(): TransportStream {
    return {
      write: (bytes) => {
        if (this.#output.pendingBytes > pipeBytesMax) return 0;
        this.#output.write(new Uint8Array(bytes)); // a copy: callers reuse the memory of frames
        return bytes.length;
      },
      senderWaits: true,
      pauseReading: () => {
        this.#pause = Promise.withResolvers<void>();
      },
      resumeReading: () => {
        this.#pause?.resolve();
        this.#pause = undefined;
      },
      close: () => void this.#output.drained().then(() => this.#resolveEnded("end of standard input")),
    };
  }

  #readerGone(): void {
    this.#connection.closed();
    this.#resolveEnded("standard output has no reader");
  }
}
