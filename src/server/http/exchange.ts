// One request by HTTP: a connection of its own that says one line, and whose answer is the response. Where frames
// follow the reply they are streamed, a line each or as server-sent events, as fast as the client takes them.
import { collectGarbage } from "../../core/process/garbage.ts";
import { Connection } from "../connection.ts";
import type { ServerCounters } from "../counters.ts";
import type { Dispatcher } from "../dispatch.ts";
import { pipeBytesMax } from "../limits.ts";

export interface Answer {
  /** The reply's line, without its end. */
  line: Uint8Array;
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
  const first = Promise.withResolvers<Uint8Array>();
  let hasFirst = false;
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
        if (!hasFirst) {
          hasFirst = true;
          first.resolve(new Uint8Array(frame.subarray(0, -1)));
          return frame.length;
        }
        if (!controller || (controller.desiredSize ?? 0) <= 0) return 0;
        controller.enqueue(format(new Uint8Array(frame)));
        collectGarbage(2 * frame.length);
        return frame.length;
      },
      senderWaits: false,
      pauseReading() {},
      resumeReading() {},
      close() {
        first.resolve(new Uint8Array(0)); // where nothing was said, nothing is answered
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
  const reply = await first.promise;
  if (!streams || isOver) return { line: reply, frames: undefined };
  const frames = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
        given.enqueue(format(Buffer.concat([reply, newline])));
      },
      pull: () => connection.writable(),
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: pipeBytesMax / 4 }),
  );
  return { line: reply, frames };
}

const newline = Buffer.from("\n");
