/** A way into the daemon. All of them lead to the same dispatcher, and all are closed together. */
export interface Door {
  /** No new clients. */
  stopAccepting(): void;
  /** Lets the last replies leave, then closes every connection. */
  farewell(): Promise<void>;
}
