import type { EncodedReply } from "../dispatch.ts";

/** The byte stream of one connection. No method calls back into the connection before it returns. */
export interface TransportStream {
  /** Returns how many bytes the transport has accepted; the connection writes the rest when writable again. */
  write(bytes: Uint8Array): number;
  /** Takes a whole reply, for transports that need its error code (an HTTP status). Without it, replies use `write`. */
  writeReply?(reply: EncodedReply): void;
  /** Pausing makes the sender wait. False for a WebSocket: its messages still arrive. */
  readonly senderWaits: boolean;
  pauseReading(): void;
  resumeReading(): void;
  close(): void;
}
