/** The way out to a client: bounded, and overtaken by replies. */
export interface FrameWriter {
  readonly isWritable: boolean;
  readonly isClosed: boolean;
  /** The client cannot say anything any more, such as how much it has taken. */
  readonly isInputEnded: boolean;
  /** Never calls `onWritable` of a user. */
  send(frame: Uint8Array): void;
  /** Resolves when what was sent before has left, or never will. */
  drained(): Promise<void>;
  /** Who is attached is told, and keeps the client's connection open. */
  attach(user: FrameWriterUser): void;
  detach(user: FrameWriterUser): void;
}

export interface FrameWriterUser {
  onWritable(): void;
  /** The client has gone. */
  onClosed(): void;
}
