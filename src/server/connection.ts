// One client, whatever carries its bytes: lines in, replies and output out, in bounded memory. Replies overtake
// output that waits.
import { type Line, LineDecoder } from "../protocol/frame.ts";
import { FarClient } from "../runtime/far-client.ts";
import type { ServerCounters } from "./counters.ts";
import type { Dispatcher } from "./dispatch.ts";
import { FrameQueue, keptRest } from "./frame-queue.ts";
import { FrontendState } from "./frontend/state.ts";
import type { ClientMemory, LaneSubscriber, OutputLane } from "./lane.ts";
import { linesPerTurnMax } from "./limits.ts";
import { Quota } from "./quota.ts";
import type { Wire } from "./wire.ts";

export class Connection implements OutputLane {
  lastProgress = performance.now();
  isClosed = false;
  readonly #decoder: LineDecoder;
  #unread: Uint8Array[] = [];
  #lines: Generator<Line> | undefined;
  #isDecoded = false;
  #inputEnded = false;
  #isPaused = false;
  #isReadingOn = false;
  #pending = 0;
  /** The frame that has begun to leave must leave whole. */
  #current: Uint8Array | undefined;
  readonly #replies = new FrameQueue();
  readonly #output = new FrameQueue();
  #subscribers = new Set<LaneSubscriber>();
  #whenEmptied: (() => void)[] = [];
  readonly #memory: ClientMemory;

  constructor(
    readonly wire: Wire,
    readonly dispatcher: Dispatcher,
    readonly counters: ServerCounters,
    maxLineBytes: number,
  ) {
    this.#decoder = new LineDecoder(maxLineBytes);
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
    return this.isSending || this.#pending > 0 || this.#unread.length > 0 || this.#subscribers.size > 0;
  }

  /** Bytes from the client. */
  receive(chunk: Uint8Array): void {
    if (this.#isDecoded) return; // we have hung up
    this.counters.bytesIn += chunk.length;
    const isIdle = this.#unread.length === 0 && !this.#lines && !this.#isFull;
    const line = isIdle ? this.#decoder.only(chunk) : undefined;
    if (line) {
      void this.#answer(line);
      this.#regulateReading();
    } else {
      this.#unread.push(chunk);
      this.#read();
    }
  }

  get isDeaf(): boolean {
    return this.#inputEnded;
  }

  /** The client has closed its side; what is pending is still answered, what streams is still delivered. */
  endOfInput(): void {
    this.#inputEnded = true;
    this.#read();
    for (const subscriber of this.#subscribers) subscriber.roomMade();
    this.#closeWhenDone();
  }

  /** Whoever does not belong here is answered once more, and no further. */
  #hangUp(): void {
    this.#inputEnded = this.#isDecoded = true;
    this.#unread = [];
    this.#lines = undefined;
    for (const subscriber of this.#subscribers) subscriber.closed();
  }

  /** The wire takes bytes again. */
  writable(): void {
    this.#flush();
    this.#read();
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
    this.#unread = [];
    this.#lines = undefined;
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
    let written = 0;
    if (this.hasRoom && this.#replies.bytes === 0) written = this.#write(frame);
    // The frame's memory is the caller's again after this.
    if (written < frame.length) this.#output.push(keptRest(frame, written));
    if (written > 0 && written < frame.length) this.#current = this.#output.shift();
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
  }

  detach(subscriber: LaneSubscriber): void {
    this.#subscribers.delete(subscriber);
    this.#closeWhenDone();
  }

  /** Takes up lines for as long as there is room for their answers; one chunk may hold thousands. */
  #read(): void {
    for (let taken = 0; !this.#isFull && !this.isClosed; ) {
      const next = this.#lines?.next();
      if (next?.done === false) {
        void this.#answer(next.value);
        if (++taken < linesPerTurnMax) continue;
        this.#readOn();
        break;
      }
      this.#lines = undefined;
      const chunk = this.#unread.shift();
      if (chunk) this.#lines = this.#decoder.push(chunk);
      else if (this.#inputEnded && !this.#isDecoded) {
        this.#isDecoded = true;
        this.#lines = this.#decoder.end();
      } else break;
    }
    this.#regulateReading();
  }

  /** In another turn: other clients come in between. */
  #readOn(): void {
    if (this.#isReadingOn) return;
    this.#isReadingOn = true;
    setImmediate(() => {
      this.#isReadingOn = false;
      this.#read();
      this.#closeWhenDone();
    });
  }

  get #isFull(): boolean {
    const { queuedBytes, requests } = this.dispatcher.connectionLimits;
    return this.#replies.bytes > queuedBytes || this.#pending >= requests;
  }

  async #answer(line: Line): Promise<void> {
    this.#pending++;
    const afterwards: (() => void)[] = [];
    const afterReply = (action: () => void) => void afterwards.push(action);
    const reply = await this.dispatcher.answer(line, { ...this.#memory, afterReply });
    this.#pending--;
    if (reply && !this.isClosed) this.#replies.push(reply);
    this.#flush();
    for (const action of afterwards) action();
    this.#read();
    this.#closeWhenDone();
  }

  #flush(): void {
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

  /** A client that does not read its replies is not read either, until it does. */
  #regulateReading(): void {
    const isFull = this.#isFull;
    if (isFull === this.#isPaused || this.isClosed) return;
    this.#isPaused = isFull;
    if (isFull) this.wire.pauseReading();
    else this.wire.resumeReading();
  }

  #closeWhenDone(): void {
    if (!this.#inputEnded || !this.#isDecoded || this.isBusy || this.isClosed) return;
    this.isClosed = true;
    this.#memory.far.release();
    this.wire.close();
  }
}
