// Request context: the connection's state, and callbacks to run after the reply.
import type { Client, ClientMemory } from "./outgoing-queue.ts";

export class RequestContext implements Client {
  readonly lane: ClientMemory["lane"];
  readonly attachments: ClientMemory["attachments"];
  readonly subscriptions: ClientMemory["subscriptions"];
  readonly quota: ClientMemory["quota"];
  readonly far: ClientMemory["far"];
  readonly frontend: ClientMemory["frontend"];
  readonly hangUp: ClientMemory["hangUp"];
  afterwards: (() => void)[] | undefined;

  /** Field by field: a copy of the whole is a call into the engine, for every request. */
  constructor(memory: ClientMemory) {
    this.lane = memory.lane;
    this.attachments = memory.attachments;
    this.subscriptions = memory.subscriptions;
    this.quota = memory.quota;
    this.far = memory.far;
    this.frontend = memory.frontend;
    this.hangUp = memory.hangUp;
  }

  get afterReply(): Client["afterReply"] {
    return (action) => {
      this.afterwards ??= [];
      this.afterwards.push(action);
    };
  }
}
