import type { ListeningSocket } from "../../platform/listening.ts";

/** A transport that accepts clients: Unix socket, HTTP, WebSocket or standard input. */
export interface Listener {
  /** The listening descriptor; undefined if an upgrade cannot pass it to the next executable. */
  readonly listening: ListeningSocket | undefined;
  /** Replies or output are queued for a client. */
  readonly isSending: boolean;
  stopAccepting(): void;
  /** Ends all streams, without closing the connections. */
  stopStreaming(): void;
  /** Closes all connections as a broken network would; clients are expected to reconnect. */
  closeConnections(): void;
  /** Waits a bounded time for the last replies to be written, then closes the listener and all connections. */
  drainAndClose(): Promise<void>;
}
