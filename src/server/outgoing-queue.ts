import type { ClientLinks } from "../remote/client-links.ts";
import type { Attachment } from "./attachment.ts";
import type { FrontendState } from "./frontend/state.ts";
import type { Quota } from "./quota.ts";
import type { TerminalSubscription } from "./terminal-subscription.ts";

/** Outgoing queue of a connection, for the frames of its subscriptions: bounded, and overtaken by replies. */
export interface OutgoingQueue {
  readonly hasRoom: boolean;
  readonly isClosed: boolean;
  /** The client cannot say anything any more, such as how much it has taken. */
  readonly isDeaf: boolean;
  /** When the client last took anything, by performance.now(). */
  readonly lastProgress: number;
  /** The frame's memory may be used again after the call. Never calls `roomMade` of a subscriber. */
  send(frame: Uint8Array): void;
  /** Resolves when what was sent before has left, or never will. */
  emptied(): Promise<void>;
  /** An attached subscriber is called back, and keeps the connection open until it detaches. */
  attach(subscriber: QueueSubscriber): void;
  detach(subscriber: QueueSubscriber): void;
}

export interface QueueSubscriber {
  roomMade(): void;
  /** The client has gone. */
  closed(): void;
  /** Before that, where it is our own doing and not for long. */
  cutOff?(): void;
}

/** What a connection remembers between its requests. */
export interface ClientMemory {
  lane: OutgoingQueue;
  /** Of the commands that it follows, by their ids. */
  attachments: Map<string, Set<Attachment>>;
  /** The terminals that it watches, by their ids. */
  subscriptions: Map<string, TerminalSubscription>;
  /** What it may have at a time. */
  quota: Quota;
  /** What it has in other runtimes. */
  far: ClientLinks;
  /** Where it speaks the frontend dialect. */
  frontend: FrontendState;
  /** Nothing more is read; the connection is closed when the last reply has left. */
  hangUp(): void;
}

/** Who asks: what a handler may do beyond its reply. */
export interface Client extends ClientMemory {
  /** Runs once the reply to this request is on its way. */
  afterReply(action: () => void): void;
}
