// How what is known of a killed daemon's commands and terminals is told.
import { encodeFrame } from "../../protocol/frame.ts";
import type { MethodName, Params, Result } from "../../protocol/methods.ts";
import type { Client, QueueSubscriber } from "../outgoing-queue.ts";

/** What answers, where something is known of the id. */
export type Recovering = {
  [M in MethodName]?: (
    params: Params<M>,
    client: Client,
  ) => (() => Result<M> | Promise<Result<M>>) | undefined;
};

/** All that follows the reply. */
export function sendLast(frames: object[], { lane, afterReply }: Client): void {
  const subscriber: QueueSubscriber = { roomMade() {}, closed() {} };
  lane.attach(subscriber); // keeps the connection open until then
  afterReply(() => {
    for (const frame of frames) lane.send(encodeFrame(frame));
    lane.detach(subscriber);
  });
}
