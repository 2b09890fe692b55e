// One HTTP request: a connection that receives one line; its reply is the response. Frames that follow the reply are
// streamed, as lines or server-sent events, as fast as the client reads them.
import { collectGarbage } from "../../../platform/garbage.ts";
import type { EncodedReply } from "../../dispatch.ts";
import { pipeBytesMax } from "../../limits.ts";
import type { Server } from "../../server.ts";

export interface Answer {
  reply: EncodedReply;
  /** Undefined if no frames follow the reply. */
  frames: ReadableStream<Uint8Array> | undefined;
}

/** Encodes a frame for the response body. */
export type FrameFormat = (frame: Uint8Array) => Uint8Array;

export async function exchange(
  line: Uint8Array,
  server: Server,
  { format, streams }: { format: FrameFormat; streams: boolean },
): Promise<Answer> {
  const { promise: replied, resolve } = Promise.withResolvers<EncodedReply>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isClosed = false;
  const close = () => {
    if (!isClosed) server.disconnect(connection);
    isClosed = true;
  };
  const connection = server.connect({
    write(frame) {
      if (!controller || (controller.desiredSize ?? 0) <= 0) return 0;
      controller.enqueue(format(new Uint8Array(frame)));
      collectGarbage(2 * frame.length);
      return frame.length;
    },
    writeReply: resolve,
    senderWaits: false,
    pauseReading() {},
    resumeReading() {},
    close() {
      controller?.close();
      close();
    },
  });
  connection.receive(line);
  connection.endOfInput();
  const reply = await replied;
  if (!streams || isClosed) return { reply, frames: undefined };
  const frames = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        given.enqueue(format(reply.bytes));
      },
      // `enqueue` calls `pull` synchronously, and the connection must not be re-entered inside its write.
      pull: () => Promise.resolve().then(() => connection.writable()),
      cancel: close,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: pipeBytesMax / 4 }),
  );
  return { reply, frames };
}
