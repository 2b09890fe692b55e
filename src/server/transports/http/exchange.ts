// One request by HTTP: a connection of its own that says one line, and whose answer is the response. Where frames
// follow the reply they are streamed, a line each or as server-sent events, as fast as the client takes them.
import { collectGarbage } from "../../../platform/garbage.ts";
import { Connection } from "../../connection.ts";
import type { ServerCounters } from "../../counters.ts";
import type { Dispatcher, EncodedReply } from "../../dispatch.ts";
import { pipeBytesMax } from "../../limits.ts";

export interface Answer {
  reply: EncodedReply;
  /** What follows it; undefined where nothing does. */
  frames: ReadableStream<Uint8Array> | undefined;
}

/** Makes of a frame what goes over the wire. */
export type FrameFormat = (frame: Uint8Array) => Uint8Array;

export async function exchange(
  line: Uint8Array,
  {
    dispatcher,
    counters,
    maxLineBytes,
  }: { dispatcher: Dispatcher; counters: ServerCounters; maxLineBytes: number },
  { format, streams }: { format: FrameFormat; streams: boolean },
): Promise<Answer> {
  const { promise: replied, resolve } = Promise.withResolvers<EncodedReply>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;
  const leave = () => {
    if (!isOver) counters.connections--;
    isOver = true;
    connection.closed();
  };
  counters.connections++;
  counters.connectionsTotal++;
  const connection = new Connection(
    {
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
        leave();
      },
    },
    dispatcher,
    counters,
    maxLineBytes,
  );
  connection.receive(line);
  connection.endOfInput();
  const reply = await replied;
  if (!streams || isOver) return { reply, frames: undefined };
  const frames = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        given.enqueue(format(reply.bytes));
      },
      // `enqueue` calls `pull` before it returns; the connection must not be re-entered within its write.
      pull: () => Promise.resolve().then(() => connection.writable()),
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: pipeBytesMax / 4 }),
  );
  return { reply, frames };
}
