import type { ListeningSocket } from "../../platform/listening.ts";

/** A way into the daemon. All of them lead to the same dispatcher, and all are closed together. */
export interface Listener {
  /** No new clients. */
  stopAccepting(): void;
  /** Lets the last replies leave, then closes every connection. */
  farewell(): Promise<void>;
  /** What it listens on, where another program can go on with it. */
  readonly listening: ListeningSocket | undefined;
  /** Nothing more is streamed to anybody. */
  fallSilent(): void;
  /** Something is still on its way to a client. */
  readonly isSending: boolean;
  /** Every connection is broken off, as a network would do; who comes again is welcome. */
  cut(): void;
}
