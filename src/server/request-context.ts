// The state of a connection, and the context of one of its requests.
import type { ClientLinks } from "../remote/client-links.ts";
import type { Attachment } from "./attachment.ts";
import type { FrontendState } from "./frontend/state.ts";
import type { OutgoingQueue } from "./outgoing-queue.ts";
import type { Quota } from "./quota.ts";
import type { TerminalSubscription } from "./terminal-subscription.ts";

/** What a connection keeps between its requests. */
export interface ConnectionState {
  readonly queue: OutgoingQueue;
  /** By command id. */
  readonly attachments: Map<string, Set<Attachment>>;
  /** By terminal id. */
  readonly subscriptions: Map<string, TerminalSubscription>;
  readonly quota: Quota;
  /** This client's connections to other runtimes. */
  readonly links: ClientLinks;
  readonly frontend: FrontendState;
  /** Stops reading; the connection closes after its last reply. */
  hangUp(): void;
}

/** Request context: the connection's state, and callbacks to run after the reply. */
export class RequestContext {
  #afterReply: (() => void)[] | undefined;

  constructor(readonly connection: ConnectionState) {}

  /** Runs the action once the reply to this request is queued. */
  afterReply(action: () => void): void {
    this.#afterReply ??= [];
    this.#afterReply.push(action);
  }

  replied(): void {
    if (this.#afterReply) for (const action of this.#afterReply) action();
  }
}
