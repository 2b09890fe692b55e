// What carries frames to a daemon and back. An application with its own channel (messages between a window and its main
// process, for example) implements this interface, and the whole client works over it.

export interface Carrier {
  /** One frame, without a line ending. */
  send(frame: string): void;
  /** Resolves when everything that was opened is closed. */
  close(): void | Promise<void>;
}

export interface CarrierEvents {
  /** One frame from the daemon. */
  message(frame: string): void;
  /** The carrier is closed for good. */
  closed(error: Error): void;
}

/** Rejects if no daemon can be reached; with a `NoDaemonError` if it is certain that there is none. */
export type OpenCarrier = (events: CarrierEvents) => Carrier | Promise<Carrier>;

/** No daemon is listening, so everything that an earlier daemon ran there has ended. */
export class NoDaemonError extends Error {
  constructor(
    message: string,
    options: ErrorOptions = {},
    /** No daemon will ever listen there again, so retries are of no use. */
    readonly isForEver = false,
  ) {
    super(message, options);
  }
}
