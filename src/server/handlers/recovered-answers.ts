// What the handlers of recovered commands and terminals share.
import { encodeFrame } from "../../protocol/frame.ts";
import type { MethodName, Params, Result } from "../../protocol/methods.ts";
import type { QueueSubscriber } from "../outgoing-queue.ts";
import type { RequestContext } from "../request-context.ts";

/** Handlers that return the answer as a function, or undefined if the id is not a recovered one. */
export type Recovering = {
  [M in MethodName]?: (
    params: Params<M>,
    context: RequestContext,
  ) => (() => Result<M> | Promise<Result<M>>) | undefined;
};

/** Sends the frames after the reply, and no others. */
export function sendLast(frames: object[], context: RequestContext): void {
  const { queue } = context.connection;
  const subscriber: QueueSubscriber = { onWritable() {}, onClosed() {} };
  queue.attach(subscriber); // keeps the connection open until the frames are sent
  context.afterReply(() => {
    for (const frame of frames) queue.send(encodeFrame(frame));
    queue.detach(subscriber);
  });
}
