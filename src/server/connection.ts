// One client connection over any transport: bytes -> line -> dispatcher -> outgoing queue, in bounded memory. Reading
// pauses while the client does not read its replies, and while it sends faster than it is answered.
import type { Line } from "../protocol/frame.ts";
import { ClientLinks } from "../remote/client-links.ts";
import type { ServerCounters } from "./counters.ts";
import type { Dispatcher, EncodedReply } from "./dispatch.ts";
import { FrontendState } from "./frontend/state.ts";
import { lineBytesPerTurnMax, linesPerTurnMax, unreadBytesMax } from "./limits.ts";
import { type FrameRests, OutgoingQueue } from "./outgoing-queue.ts";
import { type ConnectionLimits, Quota } from "./quota.ts";
import { type ConnectionState, RequestContext } from "./request-context.ts";
import { RequestReader } from "./request-reader.ts";
import type { TransportStream } from "./transports/transport-stream.ts";

/** What the connections of a daemon share. */
export interface ConnectionServices {
  dispatcher: Dispatcher;
  counters: ServerCounters;
  connectionLimits: ConnectionLimits;
  maxLineBytes: number;
  rests: FrameRests;
}

export class Connection {
  readonly queue: OutgoingQueue;
  readonly #requests: RequestReader;
  readonly #state: ConnectionState;
  /** Requests that are being answered. */
  #pending = 0;
  #isPaused = false;
  #isTurnScheduled = false;

  constructor(
    readonly transport: TransportStream,
    readonly services: ConnectionServices,
    /** Names this connection as the owner of warm shells. */
    owner: string,
  ) {
    const { counters, rests, maxLineBytes, connectionLimits } = services;
    this.#requests = new RequestReader(maxLineBytes);
    this.queue = new OutgoingQueue(transport, counters, rests, () => this.#closeWhenDone());
    this.#state = {
      queue: this.queue,
      attachments: new Map(),
      subscriptions: new Map(),
      quota: new Quota(connectionLimits, owner),
      links: new ClientLinks(this.queue),
      frontend: new FrontendState(),
      hangUp: () => this.#hangUp(),
    };
  }

  get isClosed(): boolean {
    return this.queue.isClosed;
  }

  /** Replies or output are queued. */
  get isSending(): boolean {
    return this.queue.isSending;
  }

  /** Requests are being answered, or replies, output or streams are still to be sent. */
  get isBusy(): boolean {
    return this.isSending || this.#pending > 0 || this.#requests.hasUnread || this.queue.hasSubscribers;
  }

  /** The transport has authenticated the client: the frontend dialect needs no Auth message. */
  trust(): void {
    this.#state.frontend.isAuthenticated = true;
  }

  /** Bytes from the client. */
  receive(chunk: Uint8Array): void {
    this.services.counters.bytesIn += chunk.length;
    this.#requests.push(chunk);
    this.#read();
  }

  /** The client has closed its sending side; pending requests are still answered, streams still delivered. */
  endOfInput(): void {
    this.#requests.end();
    this.queue.isInputEnded = true;
    this.#answerLines();
    this.queue.notifyWritable(); // windows do not apply any more
    this.#closeWhenDone();
  }

  /** The transport accepts bytes again. */
  writable(): void {
    this.queue.flush();
    this.#read();
  }

  /** Ends all streams before the daemon drops the connection. */
  stopStreaming(): void {
    this.queue.disconnect();
  }

  /** The transport is closed. Commands go on; their replies are dropped. */
  closed(): void {
    this.#requests.discard();
    this.queue.close();
    this.#state.links.release();
  }

  #read(): void {
    this.#answerLines();
    this.#closeWhenDone();
  }

  #answerLines(): void {
    if (!this.#isTurnScheduled) this.#answerSomeLines(); // else this turn's share is used up
    this.#pauseOrResume();
  }

  /** A chunk may hold thousands of lines: after a bounded share the rest waits for the next turn. */
  #answerSomeLines(): void {
    for (let lines = 0, bytes = 0; !this.#isFull && !this.isClosed; ) {
      const line = this.#requests.next();
      if (!line) return;
      if (line.kind === "line") bytes += line.bytes.length;
      this.#answer(line);
      if (++lines < linesPerTurnMax && bytes < lineBytesPerTurnMax) continue;
      this.#scheduleTurn();
      return;
    }
  }

  #scheduleTurn(): void {
    this.#isTurnScheduled = true;
    setImmediate(() => {
      this.#isTurnScheduled = false;
      this.#read();
    });
  }

  /** No more requests are taken until replies are read, or finished. */
  get #isFull(): boolean {
    const { queuedBytes, requests } = this.services.connectionLimits;
    return this.queue.replyBytes > queuedBytes || this.#pending >= requests;
  }

  #pauseOrResume(): void {
    const isBehind = this.transport.senderWaits && this.#requests.unreadBytes > unreadBytesMax;
    const isPaused = this.#isFull || isBehind;
    if (isPaused === this.#isPaused || this.isClosed) return;
    this.#isPaused = isPaused;
    if (isPaused) this.transport.pauseReading();
    else this.transport.resumeReading();
  }

  #answer(line: Line): void {
    const context = new RequestContext(this.#state);
    this.#pending++; // before the call: if the request makes the daemon hang up, its reply must precede the close
    const reply = this.services.dispatcher.answer(line, context);
    if (reply instanceof Promise) return void this.#replyLater(reply, context);
    this.#pending--;
    this.#reply(reply, context);
  }

  async #replyLater(reply: Promise<EncodedReply | undefined>, context: RequestContext): Promise<void> {
    const late = await reply;
    this.#pending--;
    this.#reply(late, context);
    this.#read();
  }

  #reply(reply: EncodedReply | undefined, context: RequestContext): void {
    if (reply && !this.isClosed) this.#send(reply);
    context.replied();
  }

  #send(reply: EncodedReply): void {
    if (this.transport.writeReply) {
      this.transport.writeReply(reply);
      this.queue.noteWritten(reply.bytes.length);
    } else this.queue.sendReply(reply.bytes);
  }

  /** The pending reply is still sent, then the connection closes. */
  #hangUp(): void {
    this.#requests.close();
    this.queue.isInputEnded = true;
    this.queue.endOutput();
  }

  #closeWhenDone(): void {
    if (!this.#requests.isEnded || !this.#requests.isDone || this.isBusy || this.isClosed) return;
    this.closed();
    this.transport.close();
  }
}
