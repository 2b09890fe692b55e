// The outgoing queue of one connection: replies, and the frames of its subscriptions. Replies overtake queued output.
// Backpressure: subscribers send only while `isWritable` is true, and continue in `onWritable`.
import type { ServerCounters } from "./counters.ts";
import type { TransportStream } from "./transports/transport-stream.ts";

export interface QueueSubscriber {
  /** The queue is empty again. Never called inside `send`. */
  onWritable(): void;
  /** The client is gone, or gets no more output. */
  onClosed(): void;
  /** The daemon is about to drop the connection and expects the client to reconnect. Followed by `onClosed`. */
  onDisconnect?(): void;
}

/** Queued frames, and their size in bytes. */
class FrameList {
  bytes = 0;
  #frames: Uint8Array[] = [];

  push(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.bytes += frame.length;
  }

  shift(): Uint8Array | undefined {
    const frame = this.#frames.shift();
    this.bytes -= frame?.length ?? 0;
    return frame;
  }

  clear(): void {
    this.#frames = [];
    this.bytes = 0;
  }
}

/** Copies the unwritten rests of frames. A broadcast frame is copied once for all connections that are blocked. */
export class FrameRests {
  #last: { frame: Uint8Array; from: number; copy: Uint8Array } | undefined;

  copy(frame: Uint8Array, from: number): Uint8Array {
    if (this.#last?.frame !== frame || this.#last.from > from)
      this.#last = { frame, from, copy: new Uint8Array(frame.subarray(from)) };
    return this.#last.copy.subarray(from - this.#last.from);
  }
}

export class OutgoingQueue {
  isClosed = false;
  /** The client has closed its sending side, so it cannot acknowledge output any more. */
  isInputEnded = false;
  /** When the transport last accepted bytes, by performance.now(). */
  lastProgress = performance.now();
  #isOutputEnded = false;
  /** A partly written frame; no other frame may come before its rest. */
  #current: Uint8Array | undefined;
  readonly #replies = new FrameList();
  readonly #output = new FrameList();
  readonly #subscribers = new Set<QueueSubscriber>();
  #whenDrained: (() => void)[] = [];

  constructor(
    readonly transport: TransportStream,
    readonly counters: ServerCounters,
    readonly rests: FrameRests,
    /** Runs after a subscriber has detached. */
    readonly onDetach: () => void,
  ) {}

  /** Only while nothing is queued: later frames carry more output each, and replies have less to overtake. */
  get isWritable(): boolean {
    return this.#current === undefined && this.#output.bytes === 0;
  }

  get isSending(): boolean {
    return this.#current !== undefined || this.#replies.bytes > 0 || this.#output.bytes > 0;
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.size > 0;
  }

  get replyBytes(): number {
    return this.#replies.bytes;
  }

  /** Sends a frame of a subscription. Copies what the transport does not accept: callers may reuse the memory. */
  send(frame: Uint8Array): void {
    if (this.isClosed) return;
    const wasSending = this.isSending;
    const written = wasSending ? 0 : this.#write(frame);
    if (written === frame.length || this.isClosed) return;
    if (!wasSending) this.lastProgress = performance.now(); // the stall timeout counts from here
    const rest = this.rests.copy(frame, written);
    if (written > 0) this.#current = rest;
    else this.#output.push(rest);
  }

  sendReply(reply: Uint8Array): void {
    this.#replies.push(reply);
    this.flush();
  }

  /** Writes until the transport is full or the queue is empty; then subscribers continue. */
  flush(): void {
    const wasWritable = this.isWritable;
    while (!this.isClosed) {
      const frame = this.#current ?? this.#replies.shift() ?? this.#output.shift();
      if (!frame) break;
      const written = this.#write(frame);
      this.#current = written < frame.length ? frame.subarray(written) : undefined;
      if (this.#current) break;
    }
    if (wasWritable || !this.isWritable) return;
    this.#resolveDrained();
    this.notifyWritable();
  }

  /** Counts bytes that the transport has accepted. */
  noteWritten(bytes: number): void {
    this.counters.bytesOut += bytes;
    this.lastProgress = performance.now();
  }

  /** Resolves when all output sent so far is written, or the connection is closed. */
  drained(): Promise<void> {
    if (this.isWritable || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#whenDrained.push(resolve));
  }

  /** An attached subscriber keeps the connection open until it detaches. */
  attach(subscriber: QueueSubscriber): void {
    this.#subscribers.add(subscriber);
    // A slow request may attach after the connection has closed. Subscribers attach in their constructors, so
    // `onClosed` must wait until these have returned.
    if (this.isClosed || this.#isOutputEnded) queueMicrotask(() => subscriber.onClosed());
  }

  detach(subscriber: QueueSubscriber): void {
    this.#subscribers.delete(subscriber);
    this.onDetach();
  }

  notifyWritable(): void {
    for (const subscriber of this.#subscribers) subscriber.onWritable();
  }

  /** Ends the subscriptions, present and future; replies are still sent. */
  endOutput(): void {
    this.#isOutputEnded = true;
    for (const subscriber of this.#subscribers) subscriber.onClosed();
  }

  /** Ends the subscriptions before the daemon drops the connection; what is queued may still be written. */
  disconnect(): void {
    for (const subscriber of this.#subscribers) subscriber.onDisconnect?.();
    for (const subscriber of this.#subscribers) subscriber.onClosed();
  }

  close(): void {
    this.isClosed = true;
    this.#current = undefined;
    this.#replies.clear();
    this.#output.clear();
    this.#resolveDrained();
    for (const subscriber of this.#subscribers) subscriber.onClosed();
  }

  #write(bytes: Uint8Array): number {
    const written = Math.max(0, this.transport.write(bytes));
    if (written > 0) this.noteWritten(written);
    return written;
  }

  #resolveDrained(): void {
    for (const resolve of this.#whenDrained.splice(0)) resolve();
  }
}
