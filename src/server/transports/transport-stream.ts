import type { EncodedReply } from "../dispatch.ts";

/** The byte stream that a transport gives a connection. No method calls back into the connection before it returns. */
export interface TransportStream {
  /** Takes what fits now and returns how many bytes that was; the connection offers the rest again when writable. */
  write(bytes: Uint8Array): number;
  /** Takes a whole reply, for transports that need its outcome (an HTTP status). Without it, replies go to `write`. */
  writeReply?(reply: EncodedReply): void;
  /** The sender waits while reading is paused. That of a WebSocket does not. */
  readonly senderWaits: boolean;
  pauseReading(): void;
  resumeReading(): void;
  close(): void;
}
