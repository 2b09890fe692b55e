// One client, whatever carries its bytes: lines in, replies and output out, in bounded memory. Replies overtake
// output that waits.
import type { Line } from "../protocol/frame.ts";
import { ClientLinks } from "../remote/client-links.ts";
import type { ServerCounters } from "./counters.ts";
import type { Dispatcher, EncodedReply } from "./dispatch.ts";
import { FrameQueue, keptRest } from "./frame-queue.ts";
import { FrontendState } from "./frontend/state.ts";
import type { ClientMemory, OutgoingQueue, QueueSubscriber } from "./outgoing-queue.ts";
import { Quota } from "./quota.ts";
import { RequestContext } from "./request-context.ts";
import { Inbox, type Listener } from "./request-reader.ts";
import type { TransportStream } from "./transports/transport-stream.ts";

export class Connection implements OutgoingQueue, Listener {
  lastProgress = performance.now();
  isClosed = false;
  #hasHungUp = false;
  readonly #inbox: Inbox;
  #pending = 0;
  /** The frame that has begun to leave must leave whole. */
  #current: Uint8Array | undefined;
  readonly #replies = new FrameQueue();
  readonly #output = new FrameQueue();
  #subscribers = new Set<QueueSubscriber>();
  #whenEmptied: (() => void)[] = [];
  readonly #memory: ClientMemory;

  constructor(
    readonly transport: TransportStream,
    readonly dispatcher: Dispatcher,
    readonly counters: ServerCounters,
    maxLineBytes: number,
  ) {
    this.#inbox = new Inbox(maxLineBytes, transport, this);
    this.#memory = {
      lane: this,
      attachments: new Map(),
      subscriptions: new Map(),
      quota: new Quota(dispatcher.connectionLimits),
      far: new ClientLinks(this),
      frontend: new FrontendState(),
      hangUp: () => this.#hangUp(),
    };
  }

  /** The transport has made sure who it is: the frontend dialect needs no further proof. */
  trust(): void {
    this.#memory.frontend.isAuthenticated = true;
  }

  /** Replies or output have not left yet. */
  get isSending(): boolean {
    return this.#current !== undefined || this.#replies.bytes > 0 || this.#output.bytes > 0;
  }

  /** Whether something is being answered or is on its way, now or as a stream. */
  get isBusy(): boolean {
    return this.isSending || this.#pending > 0 || this.#inbox.hasUnread || this.#subscribers.size > 0;
  }

  /** Bytes from the client. */
  receive(chunk: Uint8Array): void {
    this.counters.bytesIn += chunk.length;
    this.#inbox.receive(chunk);
    this.#closeWhenDone();
  }

  get isDeaf(): boolean {
    return this.#inbox.isEnded;
  }

  /** The client has closed its side; what is pending is still answered, what streams is still delivered. */
  endOfInput(): void {
    this.#inbox.end();
    for (const subscriber of this.#subscribers) subscriber.roomMade();
    this.#closeWhenDone();
  }

  /** Whoever does not belong here is answered once more, and no further. */
  #hangUp(): void {
    this.#hasHungUp = true;
    this.#inbox.close();
    for (const subscriber of this.#subscribers) subscriber.closed();
  }

  /** The transport takes bytes again. */
  writable(): void {
    this.#flush();
    this.#inbox.read();
    this.#closeWhenDone();
  }

  /** The daemon is about to cut the connection: nothing more is streamed, and what has been may still arrive. */
  fallSilent(): void {
    for (const subscriber of this.#subscribers) subscriber.cutOff?.();
    for (const subscriber of this.#subscribers) subscriber.closed();
  }

  /** The transport is closed. Commands go on; their replies are dropped. */
  closed(): void {
    this.isClosed = true;
    this.#inbox.forget();
    this.#current = undefined;
    this.#replies.clear();
    this.#output.clear();
    this.#tellEmptied();
    for (const subscriber of this.#subscribers) subscriber.closed();
    this.#memory.far.release();
  }

  /** Only when nothing waits: what is made later is made of more, and a reply has less to overtake. */
  get hasRoom(): boolean {
    return this.#current === undefined && this.#output.bytes === 0;
  }

  send(frame: Uint8Array): void {
    if (this.isClosed) return;
    const wasSending = this.isSending;
    const written = wasSending ? 0 : this.#write(frame);
    if (written === frame.length || this.isClosed) return;
    if (!wasSending) this.lastProgress = performance.now(); // a stall counts from here
    const rest = keptRest(frame, written);
    if (written > 0) this.#current = rest;
    else this.#output.push(rest);
  }

  emptied(): Promise<void> {
    if (this.hasRoom || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmptied.push(resolve));
  }

  #tellEmptied(): void {
    for (const tell of this.#whenEmptied.splice(0)) tell();
  }

  attach(subscriber: QueueSubscriber): void {
    this.#subscribers.add(subscriber);
    // Who had to be waited for may find the client gone, or refused meanwhile. It is told when it has come to be, and
    // before it starts.
    if (this.isClosed || this.#hasHungUp) queueMicrotask(() => subscriber.closed());
  }

  detach(subscriber: QueueSubscriber): void {
    this.#subscribers.delete(subscriber);
    this.#closeWhenDone();
  }

  get isFull(): boolean {
    const { queuedBytes, requests } = this.dispatcher.connectionLimits;
    return this.#replies.bytes > queuedBytes || this.#pending >= requests;
  }

  answer(line: Line): void {
    const context = new RequestContext(this.#memory);
    this.#pending++; // before the call: a message that makes the daemon hang up is answered before the close
    const reply = this.dispatcher.answer(line, context);
    if (reply instanceof Promise) return void this.#replyLater(reply, context);
    this.#pending--;
    this.#reply(reply, context);
  }

  async #replyLater(reply: Promise<EncodedReply | undefined>, context: RequestContext): Promise<void> {
    const late = await reply;
    this.#pending--;
    this.#reply(late, context);
    this.#inbox.read();
    this.#closeWhenDone();
  }

  hasReadOn(): void {
    this.#closeWhenDone();
  }

  #reply(reply: EncodedReply | undefined, { afterwards }: RequestContext): void {
    if (reply && !this.isClosed) this.#sendReply(reply);
    if (afterwards) for (const action of afterwards) action();
  }

  #sendReply(reply: EncodedReply): void {
    if (this.transport.writeReply) {
      this.transport.writeReply(reply);
      this.#noteWritten(reply.bytes.length);
    } else {
      this.#replies.push(reply.bytes);
      this.#flush();
    }
  }

  #flush(): void {
    const hadRoom = this.hasRoom;
    while (!this.isClosed) {
      const frame = this.#current ?? this.#replies.shift() ?? this.#output.shift();
      if (!frame) break;
      const written = this.#write(frame);
      this.#current = written < frame.length ? frame.subarray(written) : undefined;
      if (this.#current) break;
    }
    if (hadRoom || !this.hasRoom) return;
    this.#tellEmptied();
    for (const subscriber of this.#subscribers) subscriber.roomMade();
  }

  #write(bytes: Uint8Array): number {
    const written = Math.max(0, this.transport.write(bytes));
    if (written > 0) this.#noteWritten(written);
    return written;
  }

  #noteWritten(bytes: number): void {
    this.counters.bytesOut += bytes;
    this.lastProgress = performance.now();
  }

  #closeWhenDone(): void {
    if (!this.#inbox.isEnded || !this.#inbox.isDone || this.isBusy || this.isClosed) return;
    this.isClosed = true;
    this.#memory.far.release();
    this.transport.close();
  }
}
