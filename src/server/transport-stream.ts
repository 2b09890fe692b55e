/** The byte stream that a transport gives a connection. */
export interface TransportStream {
  /** Takes what fits now and returns how many bytes that was; the connection offers the rest again when writable. */
  write(bytes: Uint8Array): number;
  /** The sender waits while reading is paused. That of a WebSocket does not. */
  readonly senderWaits: boolean;
  pauseReading(): void;
  resumeReading(): void;
  close(): void;
}
