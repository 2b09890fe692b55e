// Standard input and output as one client's connection: frames in, frames out. Who holds these pipes has started us, so
// that the frontend dialect needs no proof here.

import { PipeWriter } from "../../core/process/pipe-writer.ts";
import { isReaderGone } from "../../platform/libc.ts";
import { Connection } from "../connection.ts";
import type { ServerCounters } from "../counters.ts";
import type { Dispatcher } from "../dispatch.ts";
import { pipeBytesMax, readerCheckMs } from "../limits.ts";
import { untilDrained } from "./drain.ts";
import type { Listener } from "./listener.ts";

export interface StdioListener extends Listener {
  /** The input has ended and all is answered, or nobody reads the answers any more. */
  readonly ended: Promise<string>;
}

export function serveStdio(
  dispatcher: Dispatcher,
  counters: ServerCounters,
  maxLineBytes: number,
  standardOutput = 1,
): StdioListener {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const leave = () => {
    connection.closed();
    resolve("nobody reads standard output");
  };
  const output = new PipeWriter(standardOutput, {
    onDrained: () => connection.writable(),
    onReaderClosed: leave,
  });
  const check = setInterval(() => isReaderGone(standardOutput) && leave(), readerCheckMs);
  void ended.then(() => clearInterval(check));
  let resume: (() => void) | undefined;
  let pause: Promise<void> | undefined;
  const connection = new Connection(
    {
      write(bytes) {
        if (output.pendingBytes > pipeBytesMax) return 0;
        output.write(new Uint8Array(bytes)); // its memory is used again
        return bytes.length;
      },
      senderWaits: true,
      pauseReading() {
        pause = new Promise((done) => {
          resume = done;
        });
      },
      resumeReading() {
        resume?.();
        pause = undefined;
      },
      close: () => void output.drained().then(() => resolve("end of standard input")),
    },
    dispatcher,
    counters,
    maxLineBytes,
  );
  connection.trust();
  counters.connections++;
  counters.connectionsTotal++;
  void (async () => {
    for await (const chunk of Bun.stdin.stream()) {
      await pause;
      if (connection.isClosed) return;
      connection.receive(chunk);
    }
    connection.endOfInput();
  })();
  return {
    ended,
    listening: undefined,
    get isSending() {
      return connection.isSending;
    },
    fallSilent() {},
    cut() {}, // its client cannot come again
    stopAccepting() {},
    async farewell() {
      await untilDrained(
        () => connection.isBusy || output.pendingBytes > 0,
        () => counters.bytesOut - output.pendingBytes,
      );
      connection.closed();
    },
  };
}
