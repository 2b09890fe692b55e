// The link to the daemon, kept: opened again when it is lost, and what was followed on it is taken up again.
import { TrlError } from "../protocol/errors.ts";
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

export class KeptLink {
  readonly #followers = new Set<Follower>();
  #link: Link | undefined;
  #opening: Promise<Link> | undefined;
  #isClosed = false;
  onState: (state: ConnectionState, error?: Error) => void = () => {};

  constructor(
    readonly open: OpenCarrier,
    readonly patienceS: number,
  ) {}

  /** The connection, or a new one; rejects with a ConnectionError, or with what the daemon said at its door. */
  get(): Promise<Link> {
    if (this.#isClosed) return Promise.reject(new ConnectionError("the client was closed", false));
    if (this.#link) return Promise.resolve(this.#link);
    this.#opening ??= this.#reopen().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** The first time there is no reason to wait for somebody. */
  async openOnce(): Promise<void> {
    this.#link = await this.#tryOpen().catch((error: Error) => Promise.reject(unreachable(error)));
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
    this.#failAll(new ConnectionError("the client was closed", true));
    await link?.close();
    this.onState("closed");
  }

  async #reopen(): Promise<Link> {
    const deadline = performance.now() + this.patienceS * 1000;
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
      try {
        return this.#welcome(await this.#tryOpen());
      } catch (error) {
        // What a daemon that is gone was doing will not come back, however long one waits.
        if (error instanceof NoDaemonError) this.#failAll(unreachable(error, true));
        const isOver = this.#isClosed || error instanceof TrlError || performance.now() + delayMs > deadline;
        if (isOver) {
          this.#failAll(unreachable(error as Error, true));
          if (!this.#isClosed) this.onState("disconnected", error as Error);
          throw unreachable(error as Error);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, delayMs * (0.75 + Math.random() / 2)));
    }
  }

  async #tryOpen(): Promise<Link> {
    const link = await Link.open(this.open, (error) => this.#lost(link, error));
    if (!this.#isClosed) return link;
    await link.close();
    throw new ConnectionError("the client was closed", false);
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
      const isLost = error instanceof ConnectionError && this.#link !== link;
      if (!isLost || this.#isClosed) throw error;
    });
  }

  #lost(link: Link, error: Error): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    this.onState("reconnecting", error);
    if (this.patienceS === 0) this.#failAll(unreachable(error, true));
    if (this.#followers.size > 0) void this.get().catch(() => {});
  }

  #failAll(error: Error): void {
    for (const follower of [...this.#followers]) this.#drop(follower, error);
  }

  #drop(follower: Follower, error: Error): void {
    if (this.#followers.delete(follower)) follower.fail(error);
  }
}

function unreachable(error: Error, mayHaveRun = false): TrlError {
  if (error instanceof TrlError && !mayHaveRun) return error;
  return new ConnectionError(error.message, mayHaveRun, { cause: error });
}
