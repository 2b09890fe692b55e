// What carries frames to a daemon and back. Whoever has a way of their own (the messages between a window and its
// main process, say) gives one of these, and the whole client works over it.

export interface Carrier {
  /** One frame, without a line ending. */
  send(frame: string): void;
  /** Nothing more is wanted. Resolves when whatever was opened is gone. */
  close(): void | Promise<void>;
}

export interface CarrierEvents {
  /** One frame from the daemon. */
  message(frame: string): void;
  /** It carries nothing any more, and will not again. */
  closed(error: Error): void;
}

/** Rejects where there is no daemon to be reached; with a `NoDaemonError` where that is certain. */
export type OpenCarrier = (events: CarrierEvents) => Carrier | Promise<Carrier>;

/** Nobody listens: what a daemon was doing there is over. */
export class NoDaemonError extends Error {
  constructor(
    message: string,
    options: ErrorOptions = {},
    /** Nobody ever will again: there is no use in waiting. */
    readonly isForEver = false,
  ) {
    super(message, options);
  }
}
