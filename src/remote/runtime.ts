// One runtime: its state, and the pool of links to its daemon. Each client has a link of its own, so that the remote
// daemon ties client state (input, window sizes) to the right client; a clean link is reused by the next client.
import { NoDaemonError, type OpenCarrier } from "../client/carriers/carrier.ts";
import { ConnectionError } from "../client/errors.ts";
import { TrlError } from "../protocol/errors.ts";
import { type MethodName, methods, type Params, type Result } from "../protocol/methods.ts";
import type { RuntimeSpec, runtimeStates, Unavailable } from "../protocol/runtime.ts";
import type { Connector } from "./connectors/connector.ts";
import { NotStartedError } from "./connectors/shell-connector.ts";
import { defaultPatienceS, idleLinkMs, idleLinksMax, listRetryMs, listTimeoutMs } from "./limits.ts";
import { RemoteLink } from "./link.ts";

export interface RuntimeFailure {
  since: Date;
  reason: string;
  /** Retries are of no use: the daemon is certainly gone, or refuses the connection. */
  isPermanent: boolean;
}

export interface RuntimeEvents {
  /** The daemon is gone, and with it everything that ran there. */
  gone?(): void;
  /** The daemon was a child process of the link: what is known of its sessions does not hold for the next one. */
  reset?(): void;
}

export interface RequestMode {
  /** Do not start a daemon that is not running. */
  onlyIfRunning?: boolean;
}

export class Runtime {
  version: string | undefined;
  readonly labels: readonly string[];
  /** How long subscriptions and repeatable requests wait for a lost link. */
  readonly retryTimeoutMs: number;
  readonly #links = new Set<RemoteLink>();
  #idle: { link: RemoteLink; timer: Timer }[] = [];
  /** The one link that all clients share, if the process at its other end is the daemon itself. */
  #shared: Promise<RemoteLink> | undefined;
  #isSingleLink: boolean | undefined;
  #lastFailure: RuntimeFailure | undefined;
  /** Set while a list waits for a reply past its timeout: later lists do not wait as well. */
  #timeout: RuntimeFailure | undefined;
  #changedAt = new Date();
  #lastAttempt = 0;
  /** The last attempt found that no daemon is running, which is not a failure. */
  #isNotStarted = false;
  /** Set when the runtime was removed: the error for every request from then on. */
  #removal: TrlError | undefined;

  constructor(
    readonly name: string,
    readonly spec: RuntimeSpec,
    readonly connector: Connector,
    readonly events: RuntimeEvents = {},
  ) {
    this.labels = spec.labels ?? [];
    this.retryTimeoutMs = (spec.patience_s ?? defaultPatienceS) * 1000;
  }

  get state(): (typeof runtimeStates)[number] {
    if (this.failure) return "unavailable";
    return this.#links.size > 0 ? "connected" : "idle";
  }

  get since(): Date {
    return this.failure?.since ?? this.#changedAt;
  }

  /** Retries are of no use. */
  get isPermanentlyGone(): boolean {
    return this.#removal !== undefined || this.failure?.isPermanent === true;
  }

  get failure(): RuntimeFailure | undefined {
    return this.#links.size === 0 && this.#lastFailure ? this.#lastFailure : this.#timeout;
  }

  /** All clients share one link. */
  get isSingleLink(): boolean {
    return this.#isSingleLink === true;
  }

  get isNotStarted(): boolean {
    return this.#isNotStarted;
  }

  /** Whether lists and searches may ask it: it answers, or the last failed attempt is long enough ago. */
  get isListable(): boolean {
    if (this.#removal || this.#timeout) return false;
    if (this.#links.size > 0) return true;
    const hasFailed = this.#lastFailure !== undefined || this.#isNotStarted;
    const isRecent = hasFailed && performance.now() - this.#lastAttempt < listRetryMs;
    return !isRecent && this.connector.find !== undefined;
  }

  /** A link for one client. Rejects with RUNTIME_UNAVAILABLE, or with RUNTIME_NOT_FOUND after the removal. */
  async link(mode: RequestMode = {}): Promise<RemoteLink> {
    try {
      return await this.#obtain(mode);
    } catch {
      // The connector's own error is about the way to the daemon; the client gets it as the reason.
      throw this.#removal ?? this.unavailable(false);
    }
  }

  /** Takes a link back from a client. `isClean`: the remote daemon ties no client state to it. */
  giveBack(link: RemoteLink, isClean: boolean): void {
    if (!link.isOpen || this.isSingleLink) return;
    const isReusable = isClean && link.isIdle && this.#idle.length < idleLinksMax && !this.#removal;
    if (!isReusable) return void this.#close(link);
    const timer = setTimeout(() => {
      this.#idle = this.#idle.filter((it) => it.link !== link);
      void this.#close(link);
    }, idleLinkMs);
    timer.unref();
    this.#idle.push({ link, timer });
  }

  /** One request, on a link from the pool. */
  async ask<M extends MethodName>(method: M, params: Params<M>, mode: RequestMode = {}): Promise<Result<M>> {
    for (let isRetry = false; ; isRetry = true) {
      const link = await this.link(mode);
      try {
        return (await link.request(method, params)) as Result<M>;
      } catch (error) {
        // A pooled link may have died unnoticed.
        if (!(error instanceof ConnectionError)) throw error;
        if (isRetry || !("isRepeatable" in methods[method])) throw this.unavailable(true);
      } finally {
        this.giveBack(link, true);
      }
    }
  }

  /** As `ask`, with a short timeout. Resolves to undefined if the request takes longer or fails. */
  async askBriefly<M extends MethodName>(
    method: M,
    params: Params<M>,
    mode: RequestMode = {},
  ): Promise<Result<M> | undefined> {
    const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => {
      this.#timeout ??= noAnswer();
      resolve(undefined);
    }, listTimeoutMs);
    const reply = this.ask(method, params, mode).catch(() => undefined);
    void reply.finally(() => {
      clearTimeout(timer);
      this.#timeout = undefined; // there is a reply, or `#lastFailure` has the reason
    });
    return await Promise.race([reply, timeout]);
  }

  unavailable(mayHaveRun: boolean): TrlError {
    const { since, reason } = this.unavailability();
    const data = { runtime: this.name, since, reason, may_have_run: mayHaveRun };
    return new TrlError(
      "RUNTIME_UNAVAILABLE",
      `the runtime "${this.name}" cannot be reached: ${reason}`,
      data,
    );
  }

  unavailability(): Unavailable {
    const { since, reason } = this.#lastFailure ?? this.#timeout ?? noAnswer();
    return { runtime: this.name, since: since.toISOString(), reason };
  }

  /** Closes all links and removes what the connector has made. */
  async dispose(error: TrlError): Promise<void> {
    this.#removal = error;
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    const links = [...this.#links];
    this.#links.clear();
    await Promise.allSettled(links.map((link) => link.abandon(error)));
    await this.connector.dispose?.();
  }

  async #obtain(mode: RequestMode): Promise<RemoteLink> {
    if (this.#removal) throw this.#removal;
    if (this.#shared) return await this.#shared;
    const pooled = this.#idle.pop();
    if (pooled) {
      clearTimeout(pooled.timer);
      return pooled.link;
    }
    if (!this.connector.mayBeSingleLink || this.#isSingleLink === false) return await this.#open(mode);
    this.#shared = this.#openFirst(mode);
    return await this.#shared;
  }

  /** Asks the daemon whether it serves its standard input: then its process lives and dies with this one link. */
  async #openFirst(mode: RequestMode): Promise<RemoteLink> {
    try {
      const link = await this.#open(mode);
      const { capabilities } = (await link.request("system.describe", {})) as Result<"system.describe">;
      this.#isSingleLink = (capabilities["transports"] as unknown[] | undefined)?.includes("stdin") ?? true;
      if (!this.#isSingleLink) this.#shared = undefined;
      else
        link.onLost.add(() => {
          this.#shared = this.#isSingleLink = undefined;
          this.events.reset?.();
        });
      return link;
    } catch (error) {
      this.#shared = undefined;
      throw error;
    }
  }

  async #open({ onlyIfRunning = false }: RequestMode): Promise<RemoteLink> {
    const open: OpenCarrier | undefined = onlyIfRunning ? this.connector.find : this.connector.open;
    if (!open) throw this.unavailable(false);
    this.#lastAttempt = performance.now();
    let link: RemoteLink;
    try {
      link = await RemoteLink.open(open);
    } catch (error) {
      this.#isNotStarted = error instanceof NotStartedError;
      if (this.#isNotStarted) this.#lastFailure = undefined;
      else this.#failed(error as Error, error instanceof NoDaemonError || error instanceof TrlError);
      throw error;
    }
    if (this.#removal) {
      await link.close();
      throw this.#removal;
    }
    link.onLost.add((error) => this.#lost(link, error));
    if (this.#links.size === 0) this.#changedAt = new Date();
    this.#links.add(link);
    this.#lastFailure = undefined;
    this.#isNotStarted = false;
    this.version = link.version;
    return link;
  }

  async #close(link: RemoteLink): Promise<void> {
    if (this.#links.delete(link) && this.#links.size === 0) this.#changedAt = new Date();
    await link.close();
  }

  #lost(link: RemoteLink, error: Error): void {
    this.#links.delete(link);
    this.#idle = this.#idle.filter((it) => it.link !== link || clearTimeout(it.timer));
    if (this.#links.size > 0) return;
    this.#lastFailure = undefined; // it is older than this link, which worked until now
    this.#failed(error, error instanceof NoDaemonError || this.isSingleLink);
  }

  #failed(error: Error, isPermanent: boolean): void {
    if (error instanceof NoDaemonError) this.events.gone?.();
    const since = this.#lastFailure?.since ?? this.#timeout?.since ?? new Date();
    this.#lastFailure = { since, reason: error.message, isPermanent };
  }
}

const noAnswer = (): RuntimeFailure => ({
  since: new Date(),
  reason: "it does not answer",
  isPermanent: false,
});
