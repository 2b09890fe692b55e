/** What a transport gives. `write` takes what fits now and says how much; the rest is offered again later. */
export interface Wire {
  write(bytes: Uint8Array): number;
  pauseReading(): void;
  resumeReading(): void;
  close(): void;
}
