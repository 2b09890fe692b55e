// A link that reconnects: it opens a new one when the old one is lost, and resumes the subscriptions on it.
import { TrlError } from "../protocol/errors.ts";
import { deferred } from "../util/deferred.ts";
import { Backoff } from "./backoff.ts";
import { NoDaemonError, type OpenCarrier } from "./carriers/carrier.ts";
import { ConnectionError } from "./errors.ts";
import { decodeFrame, Link } from "./link.ts";

/** Output of a command or a terminal, which goes on across connections. */
export interface Subscription {
  /** Asks for the next output on a new connection. If it throws, the subscription ends. */
  resume(link: Link): Promise<void>;
  fail(error: Error): void;
}

export interface ReconnectOptions {
  /** How long a lost connection may take to come back; 0 = no second attempt (5). */
  patienceS?: number;
}

/** After `disconnected`, the next request connects again. */
export type ConnectionState = "connected" | "reconnecting" | "disconnected" | "closed";

type StateListener = (state: ConnectionState, error?: Error) => void;

const retryDelays = { firstMs: 20, maxMs: 1000 };
/** A daemon has at least this long to answer, even if the deadline for reconnecting is closer. */
const answerMinMs = 5000;
/** A daemon that has not answered by then gets a new connection, even if the deadline is further away. */
const answerMaxMs = 30_000;

export class PersistentLink {
  readonly #open: OpenCarrier;
  readonly #timeoutMs: number;
  readonly #onState: StateListener;
  readonly #subscriptions = new Set<Subscription>();
  /** Rejects when this is closed. */
  readonly #closed = deferred<never>();
  #link: Link | undefined;
  #opening: Promise<Link> | undefined;
  #isClosed = false;

  constructor(open: OpenCarrier, { patienceS = 5 }: ReconnectOptions, onState: StateListener) {
    this.#open = open;
    this.#timeoutMs = patienceS * 1000;
    this.#onState = onState;
    this.#closed.promise.catch(() => {}); // most of the time nothing awaits it
  }

  /** The current link, or a new one. Rejects with a ConnectionError, or with the error by which the daemon refused. */
  get(): Promise<Link> {
    if (this.#isClosed) return Promise.reject(new ConnectionError("the client was closed", false));
    if (this.#link) return Promise.resolve(this.#link);
    this.#opening ??= Promise.race([this.#reopen(), this.#closed.promise]).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** The first connection: a failure is reported at once, without retries. */
  async openOnce(): Promise<void> {
    this.#link = await this.#tryOpen().catch((error: Error) => Promise.reject(unreachable(error, false)));
    this.#onState("connected");
  }

  /** Resumes the subscription now and on every later connection, until `unsubscribe`. */
  async subscribe(subscription: Subscription): Promise<void> {
    this.#subscriptions.add(subscription);
    try {
      if (this.#link) await this.#resume(subscription, this.#link);
      else await this.get(); // resumes all subscriptions
    } catch (error) {
      this.#drop(subscription, error as Error);
    }
  }

  unsubscribe(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const link = this.#link;
    this.#link = undefined;
    this.#closed.reject(new ConnectionError("the client was closed", false));
    this.#failAll(new ConnectionError("the client was closed", true));
    await link?.close();
    this.#onState("closed");
  }

  async #reopen(): Promise<Link> {
    const backoff = new Backoff({ ...retryDelays, timeoutMs: this.#timeoutMs });
    for (;;) {
      try {
        const answerMs = Math.ceil(Math.min(Math.max(backoff.leftMs, answerMinMs), answerMaxMs));
        return this.#use(await this.#tryOpen(AbortSignal.timeout(answerMs)));
      } catch (error) {
        // A daemon that is gone does not continue its commands, so their subscriptions need not wait for the deadline.
        if (error instanceof NoDaemonError) this.#failAll(unreachable(error, true));
        if (this.#isClosed || isFinal(error) || backoff.isExhausted) {
          this.#failAll(unreachable(error as Error, true));
          if (!this.#isClosed) this.#onState("disconnected", error as Error);
          throw unreachable(error as Error, false);
        }
      }
      await backoff.wait(this.#closed.promise);
    }
  }

  /** A carrier that opens is no proof of a daemon: a tunnel accepts a connection and then drops it. So this pings. */
  async #tryOpen(signal?: AbortSignal): Promise<Link> {
    const onLost = (error: Error, lost: Link) => this.#lost(lost, error);
    const link = await Link.open({ open: this.#open, decode: decodeFrame, onLost });
    try {
      await Promise.race([link.request("system.ping", {}, { signal }), this.#closed.promise]);
    } catch (error) {
      await link.close();
      if (signal?.aborted) throw new Error("the daemon does not answer", { cause: error });
      throw error instanceof ConnectionError && error.cause ? error.cause : error;
    }
    if (!this.#isClosed && !link.isClosed) return link;
    await link.close();
    throw this.#isClosed
      ? new ConnectionError("the client was closed", false)
      : new Error("the connection was lost");
  }

  #use(link: Link): Link {
    this.#link = link;
    this.#onState("connected");
    for (const subscription of this.#subscriptions)
      void this.#resume(subscription, link).catch((error: Error) => this.#drop(subscription, error));
    return link;
  }

  /** If the connection is lost meanwhile, the subscription is resumed on the next one. */
  async #resume(subscription: Subscription, link: Link): Promise<void> {
    await subscription.resume(link).catch((error: unknown) => {
      if (!(error instanceof ConnectionError && link.isClosed) || this.#isClosed) throw error;
    });
  }

  #lost(link: Link, error: Error): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    if (this.#timeoutMs === 0) {
      this.#onState("disconnected", error);
      this.#failAll(unreachable(error, true));
    } else {
      this.#onState("reconnecting", error);
      void this.get().catch(() => {});
    }
  }

  #failAll(error: Error): void {
    for (const subscription of [...this.#subscriptions]) this.#drop(subscription, error);
  }

  #drop(subscription: Subscription, error: Error): void {
    if (this.#subscriptions.delete(subscription)) subscription.fail(error);
  }
}

/** The daemon has refused the client, or can never come back. */
function isFinal(error: unknown): boolean {
  if (error instanceof NoDaemonError) return error.isForEver;
  return error instanceof TrlError && !(error instanceof ConnectionError);
}

function unreachable(error: Error, mayHaveRun: boolean): TrlError {
  const isRefusal = error instanceof TrlError && !(error instanceof ConnectionError);
  if (isRefusal && !mayHaveRun) return error;
  return new ConnectionError(error.message, mayHaveRun, {
    cause: error,
    ...(isRefusal ? { code: error.code } : {}),
  });
}
