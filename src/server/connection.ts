// One client, whatever carries its bytes: lines in, replies and output out, in bounded memory. Replies overtake
// output that waits.
import type { Line } from "../protocol/frame.ts";
import { FarClient } from "../runtime/far-client.ts";
import { Asker } from "./asker.ts";
import type { ServerCounters } from "./counters.ts";
import type { Dispatcher } from "./dispatch.ts";
import { FrameQueue, keptRest } from "./frame-queue.ts";
import { FrontendState } from "./frontend/state.ts";
import { Inbox, type Listener } from "./inbox.ts";
import type { ClientMemory, LaneSubscriber, OutputLane } from "./lane.ts";
import { Quota } from "./quota.ts";
import type { Wire } from "./wire.ts";

export class Connection implements OutputLane, Listener {
  lastProgress = performance.now();
  isClosed = false;
  #hasHungUp = false;
  readonly #inbox: Inbox;
  #pending = 0;
  /** The frame that has begun to leave must leave whole. */
  #current: Uint8Array | undefined;
  readonly #replies = new FrameQueue();
  readonly #output = new FrameQueue();
  /** Nothing is in any of these: where many watch one terminal, each thing that is looked at is looked at for all. */
  #isClear = true;
  #subscribers = new Set<LaneSubscriber>();
  #whenEmptied: (() => void)[] = [];
  readonly #memory: ClientMemory;

  constructor(
    readonly wire: Wire,
    readonly dispatcher: Dispatcher,
    readonly counters: ServerCounters,
    maxLineBytes: number,
  ) {
    this.#inbox = new Inbox(maxLineBytes, wire, this);
    this.#memory = {
      lane: this,
      attachments: new Map(),
      subscriptions: new Map(),
      quota: new Quota(dispatcher.connectionLimits),
      far: new FarClient(this),
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
    return !this.hasRoom || this.#replies.bytes > 0;
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

  /** The wire takes bytes again. */
  writable(): void {
    this.#flush();
    this.#inbox.read();
    this.#closeWhenDone();
  }

  /** The wire is about to be cut by ourselves: nothing more is streamed, and what has been may still arrive. */
  fallSilent(): void {
    for (const subscriber of this.#subscribers) subscriber.cutOff?.();
    for (const subscriber of this.#subscribers) subscriber.closed();
  }

  /** The wire is gone. Commands go on; their replies are dropped. */
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
    return this.#isClear || (this.#current === undefined && this.#output.bytes === 0);
  }

  send(frame: Uint8Array): void {
    if (this.isClosed) return;
    const written = this.#isClear ? this.#write(frame) : 0;
    if (written < frame.length) this.heldUp(frame, written);
  }

  heldUp(frame: Uint8Array, written: number): void {
    if (this.isClosed) return;
    if (this.#isClear) this.lastProgress = performance.now();
    this.#isClear = false;
    // The frame's memory is the caller's again after this.
    this.#output.push(keptRest(frame, written));
    if (written > 0) this.#current = this.#output.shift();
    this.#tellRoomLost();
  }

  retry(): void {
    this.#flush();
  }

  #tellRoomLost(): void {
    for (const subscriber of this.#subscribers) subscriber.roomLost?.();
  }

  emptied(): Promise<void> {
    if (this.hasRoom || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmptied.push(resolve));
  }

  #tellEmptied(): void {
    for (const tell of this.#whenEmptied.splice(0)) tell();
  }

  attach(subscriber: LaneSubscriber): void {
    this.#subscribers.add(subscriber);
    // Who had to be waited for may find the client gone, or refused meanwhile. It is told when it has come to be, and
    // before it starts.
    if (this.isClosed || this.#hasHungUp) queueMicrotask(() => subscriber.closed());
  }

  detach(subscriber: LaneSubscriber): void {
    this.#subscribers.delete(subscriber);
    this.#closeWhenDone();
  }

  get isFull(): boolean {
    const { queuedBytes, requests } = this.dispatcher.connectionLimits;
    return this.#replies.bytes > queuedBytes || this.#pending >= requests;
  }

  answer(line: Line): void {
    const client = new Asker(this.#memory);
    this.#pending++; // from the beginning: who is hung up on by its own message has its answer before the end
    const reply = this.dispatcher.answer(line, client);
    if (reply instanceof Promise) return void this.#replyLater(reply, client);
    this.#pending--;
    this.#reply(reply, client);
  }

  async #replyLater(reply: Promise<Uint8Array | undefined>, client: Asker): Promise<void> {
    const late = await reply;
    this.#pending--;
    this.#reply(late, client);
    this.#inbox.read();
    this.#closeWhenDone();
  }

  hasReadOn(): void {
    this.#closeWhenDone();
  }

  #reply(reply: Uint8Array | undefined, { afterwards }: Asker): void {
    if (reply && !this.isClosed) {
      this.#replies.push(reply);
      this.#isClear = false;
    }
    this.#flush();
    if (afterwards) for (const action of afterwards) action();
  }

  #flush(): void {
    if (this.#isClear) return;
    const hadRoom = this.hasRoom;
    while (!this.isClosed) {
      this.#current ??= this.#replies.shift() ?? this.#output.shift();
      if (!this.#current) break;
      const written = this.#write(this.#current);
      if (written < this.#current.length) {
        this.#current = this.#current.subarray(written);
        break;
      }
      this.#current = undefined;
    }
    this.#isClear = this.#current === undefined && this.#replies.bytes === 0 && this.#output.bytes === 0;
    if (hadRoom && !this.hasRoom) this.#tellRoomLost();
    if (hadRoom || !this.hasRoom) return;
    this.#tellEmptied();
    for (const subscriber of this.#subscribers) subscriber.roomMade();
  }

  #write(bytes: Uint8Array): number {
    const written = Math.max(0, this.wire.write(bytes));
    this.counters.bytesOut += written;
    if (written > 0) this.lastProgress = performance.now();
    return written;
  }

  #closeWhenDone(): void {
    if (!this.#inbox.isEnded || !this.#inbox.isDone || this.isBusy || this.isClosed) return;
    this.isClosed = true;
    this.#memory.far.release();
    this.wire.close();
  }
}
