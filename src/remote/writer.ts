// What src/remote needs of a client's connection: a bounded queue for frames, which replies overtake.
export interface FrameWriter {
  readonly isWritable: boolean;
  readonly isClosed: boolean;
  /** The client can send nothing any more, acknowledgements included. */
  readonly isInputEnded: boolean;
  /** Never calls `onWritable` of a user. */
  send(frame: Uint8Array): void;
  /** Resolves when everything sent before is flushed, or never can be. */
  drained(): Promise<void>;
  /** An attached user gets the callbacks, and holds the client's connection open until it detaches. */
  attach(user: FrameWriterUser): void;
  detach(user: FrameWriterUser): void;
}

export interface FrameWriterUser {
  /** The queue has capacity again. */
  onWritable(): void;
  /** The client has disconnected. */
  onClosed(): void;
}
