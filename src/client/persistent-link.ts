// The link to the daemon, kept: opened again when it is lost, and what was followed on it is taken up again.
import { TrlError } from "../protocol/errors.ts";
import { deferred } from "../util/deferred.ts";
import { NoDaemonError, type OpenCarrier } from "./carriers/carrier.ts";
import { ConnectionError } from "./errors.ts";
import { Link } from "./link.ts";

/** Something that goes on across connections: a command's output, a terminal's. */
export interface Follower {
  /** On a new connection: asks for what comes next. Whatever it throws ends it. */
  resume(link: Link): Promise<void>;
  fail(error: Error): void;
}

export interface ReconnectOptions {
  /** How long a lost connection may take to come back; 0 = no second attempt (5). */
  patienceS?: number;
}

/** Who is disconnected is connected again by the next request. */
export type ConnectionState = "connected" | "reconnecting" | "disconnected" | "closed";

const firstDelayMs = 20;
const delayMaxMs = 1000;
/** However short the patience: a daemon may take so long to answer. */
const answerMinMs = 5000;
/** And however long: one that has not answered by then is not asked in vain any longer, but anew. */
const answerMaxMs = 30_000;

export class PersistentLink {
  readonly #followers = new Set<Follower>();
  readonly #closed = deferred<never>();
  #link: Link | undefined;
  #opening: Promise<Link> | undefined;
  #isClosed = false;
  onState: (state: ConnectionState, error?: Error) => void = () => {};

  constructor(
    readonly open: OpenCarrier,
    readonly patienceS: number,
  ) {
    this.#closed.promise.catch(() => {}); // most of the time nobody waits
  }

  /** The connection, or a new one; rejects with a ConnectionError, or with what the daemon said at its door. */
  get(): Promise<Link> {
    if (this.#isClosed) return Promise.reject(new ConnectionError("the client was closed", false));
    if (this.#link) return Promise.resolve(this.#link);
    this.#opening ??= Promise.race([this.#reopen(), this.#closed.promise]).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** The first time there is no reason to wait for somebody. */
  async openOnce(): Promise<void> {
    this.#link = await this.#tryOpen().catch((error: Error) => Promise.reject(unreachable(error, false)));
    this.onState("connected");
  }

  /** Resumed now, and on every connection to come, until `unfollow`. */
  async follow(follower: Follower): Promise<void> {
    this.#followers.add(follower);
    try {
      if (this.#link) await this.#resume(follower, this.#link);
      else await this.get(); // which resumes all
    } catch (error) {
      this.#drop(follower, error as Error);
    }
  }

  unfollow(follower: Follower): void {
    this.#followers.delete(follower);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const link = this.#link;
    this.#link = undefined;
    this.#closed.reject(new ConnectionError("the client was closed", false));
    this.#failAll(new ConnectionError("the client was closed", true));
    await link?.close();
    this.onState("closed");
  }

  async #reopen(): Promise<Link> {
    const deadline = performance.now() + this.patienceS * 1000;
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
      try {
        const leftMs = Math.max(deadline - performance.now(), answerMinMs);
        const answerMs = Math.ceil(Math.min(leftMs, answerMaxMs));
        return this.#welcome(await this.#tryOpen(AbortSignal.timeout(answerMs)));
      } catch (error) {
        // What a daemon that is gone was doing will not come back, however long one waits.
        if (error instanceof NoDaemonError) this.#failAll(unreachable(error, true));
        if (this.#isClosed || isFinal(error) || performance.now() + delayMs > deadline) {
          this.#failAll(unreachable(error as Error, true));
          if (!this.#isClosed) this.onState("disconnected", error as Error);
          throw unreachable(error as Error, false);
        }
      }
      await this.#pause(delayMs * (0.75 + Math.random() / 2));
    }
  }

  /** Not every door that opens has a daemon behind it: a tunnel lets everybody in, and then out again. */
  async #tryOpen(signal?: AbortSignal): Promise<Link> {
    const link = await Link.open(this.open, (lost, error) => this.#lost(lost, error));
    try {
      await Promise.race([link.request("system.ping", {}, { signal }), this.#closed.promise]);
    } catch (error) {
      await link.close();
      if (signal?.aborted) throw new Error("the daemon does not answer", { cause: error });
      throw error instanceof ConnectionError && error.cause ? error.cause : error;
    }
    if (!this.#isClosed && !link.isOver) return link;
    await link.close();
    throw this.#isClosed
      ? new ConnectionError("the client was closed", false)
      : new Error("the connection was lost");
  }

  #welcome(link: Link): Link {
    this.#link = link;
    this.onState("connected");
    for (const follower of this.#followers)
      void this.#resume(follower, link).catch((error: Error) => this.#drop(follower, error));
    return link;
  }

  /** Where the connection is lost meanwhile, the next one is asked. */
  async #resume(follower: Follower, link: Link): Promise<void> {
    await follower.resume(link).catch((error: unknown) => {
      if (!(error instanceof ConnectionError && link.isOver) || this.#isClosed) throw error;
    });
  }

  #lost(link: Link, error: Error): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    if (this.patienceS === 0) {
      this.onState("disconnected", error);
      this.#failAll(unreachable(error, true));
    } else {
      this.onState("reconnecting", error);
      void this.get().catch(() => {});
    }
  }

  async #pause(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const paused = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([paused, this.#closed.promise]).finally(() => clearTimeout(timer));
  }

  #failAll(error: Error): void {
    for (const follower of [...this.#followers]) this.#drop(follower, error);
  }

  #drop(follower: Follower, error: Error): void {
    if (this.#followers.delete(follower)) follower.fail(error);
  }
}

/** The daemon has refused us, or can never be there again. */
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
