/** What a transport gives. `write` takes what fits now and says how much; the rest is offered again later. */
export interface Wire {
  /** Where it is a socket to which one may write without it, as long as it has taken everything. */
  readonly fd?: number;
  write(bytes: Uint8Array): number;
  /** The sender waits while reading is paused. That of a WebSocket does not. */
  readonly senderWaits: boolean;
  pauseReading(): void;
  resumeReading(): void;
  close(): void;
}
