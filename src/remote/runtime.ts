// One runtime: how it is, and the links to it. Each client has a link of its own, so that what the daemon there
// remembers of a client is remembered of the right one; a link that was given back clean is kept for the next.
import { NoDaemonError, type OpenCarrier } from "../client/carriers/carrier.ts";
import { TrlError } from "../protocol/errors.ts";
import { type MethodName, methods, type Params, type Result } from "../protocol/methods.ts";
import type { RuntimeSpec, runtimeStates, Unavailable } from "../protocol/runtime.ts";
import type { Connector } from "./connectors/connector.ts";
import { defaultPatienceS, idleLinkMs, idleLinksMax, lookAgainMs, lookMs } from "./limits.ts";
import { LinkLost, RemoteLink } from "./link.ts";
import { UnreachableError } from "./unreachable.ts";

export interface ReadFailures {
  since: Date;
  reason: string;
  /** To try again is of no use: the daemon there is gone for certain, or does not let us in. */
  isHopeless: boolean;
}

export class Runtime {
  version: string | undefined;
  readonly labels: readonly string[];
  readonly patienceMs: number;
  readonly #links = new Set<RemoteLink>();
  #idle: { link: RemoteLink; timer: Timer }[] = [];
  /** Where the process at the other end is the daemon itself: the one link that all share. */
  #shared: Promise<RemoteLink> | undefined;
  #isPrivate: boolean | undefined;
  #trouble: ReadFailures | undefined;
  /** Who looked waits for an answer, and will not be the only one. */
  #silence: ReadFailures | undefined;
  #changedAt = new Date();
  #lastTry = 0;
  /** Who looked found that no daemon has been started there yet, which is no trouble. */
  #isVacant = false;
  /** What everybody is told since it was removed. */
  #removal: TrlError | undefined;
  /** The daemon there is gone, and nothing lives there any more. */
  onGone: () => void = () => {};
  /** Its process was the link's: what is known of it is not true any more. */
  onForgotten: () => void = () => {};

  constructor(
    readonly name: string,
    readonly spec: RuntimeSpec,
    readonly opener: Connector,
  ) {
    this.labels = spec.labels ?? [];
    this.patienceMs = (spec.patience_s ?? defaultPatienceS) * 1000;
  }

  get state(): (typeof runtimeStates)[number] {
    if (this.trouble) return "unavailable";
    return this.#links.size > 0 ? "connected" : "idle";
  }

  get since(): Date {
    return this.trouble?.since ?? this.#changedAt;
  }

  /** To try again is of no use. */
  get isHopeless(): boolean {
    return this.#removal !== undefined || this.trouble?.isHopeless === true;
  }

  get trouble(): ReadFailures | undefined {
    return this.#links.size === 0 && this.#trouble ? this.#trouble : this.#silence;
  }

  /** Whether its one link is shared by all clients. */
  get isPrivate(): boolean {
    return this.#isPrivate === true;
  }

  get isVacant(): boolean {
    return this.#isVacant;
  }

  /** Whether who merely looks may ask it: it answers, or has not been asked in vain just now. */
  get isWorthALook(): boolean {
    if (this.#removal || this.#silence) return false;
    if (this.#links.size > 0) return true;
    const isFresh = (this.#trouble || this.#isVacant) && performance.now() - this.#lastTry < lookAgainMs;
    return !isFresh && this.opener.find !== undefined;
  }

  /** A link for one client. Rejects with RUNTIME_UNAVAILABLE, or RUNTIME_NOT_FOUND where it was removed. */
  async link(isLook = false): Promise<RemoteLink> {
    try {
      return await this.#obtain(isLook);
    } catch {
      // What its door says to us is no answer to the client.
      throw this.#removal ?? this.unavailable(false);
    }
  }

  async #obtain(isLook: boolean): Promise<RemoteLink> {
    if (this.#removal) throw this.#removal;
    if (this.#shared) return await this.#shared;
    const kept = this.#idle.pop();
    if (kept) {
      clearTimeout(kept.timer);
      return kept.link;
    }
    if (!this.opener.mayBePrivate || this.#isPrivate === false) return await this.#open(isLook);
    this.#shared = this.#openFirst(isLook);
    return await this.#shared;
  }

  /** From a client that has gone, or needs it no more. */
  rollBack(link: RemoteLink, isClean: boolean): void {
    if (!link.isOpen || this.isPrivate) return;
    const mayStay = isClean && link.isQuiet && this.#idle.length < idleLinksMax && !this.#removal;
    if (!mayStay) return void this.#close(link);
    const timer = setTimeout(() => {
      this.#idle = this.#idle.filter((it) => it.link !== link);
      void this.#close(link);
    }, idleLinkMs);
    timer.unref();
    this.#idle.push({ link, timer });
  }

  /** One question, on a link that is at hand. */
  async ask<M extends MethodName>(method: M, params: Params<M>, isLook = false): Promise<Result<M>> {
    for (let isRepeated = false; ; isRepeated = true) {
      const link = await this.link(isLook);
      try {
        return (await link.request(method, params)) as Result<M>;
      } catch (error) {
        // One that was kept may have died meanwhile.
        if (!(error instanceof LinkLost)) throw error;
        if (isRepeated || !("isRepeatable" in methods[method])) throw this.unavailable(true);
      } finally {
        this.rollBack(link, true);
      }
    }
  }

  /** The same for those who do not wait for long: undefined where it takes longer or fails. */
  async askBriefly<M extends MethodName>(
    method: M,
    params: Params<M>,
    isLook = false,
  ): Promise<Result<M> | undefined> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => {
      this.#silence ??= silence();
      resolve(undefined);
    }, lookMs);
    const answer = this.ask(method, params, isLook).catch(() => undefined);
    void answer.finally(() => {
      clearTimeout(timer);
      this.#silence = undefined; // it has answered, or what is wrong with it is known by now
    });
    return await Promise.race([answer, late]);
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
    const { since, reason } = this.#trouble ?? this.#silence ?? silence();
    return { runtime: this.name, since: since.toISOString(), reason };
  }

  /** Links are closed, and what was made for it is removed. */
  async dispose(why: TrlError): Promise<void> {
    this.#removal = why;
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    const links = [...this.#links];
    this.#links.clear();
    await Promise.allSettled(links.map((link) => link.abandon(why)));
    await this.opener.dispose?.();
  }

  /** Whether the process there is the daemon itself is known when it has been asked. */
  async #openFirst(isLook: boolean): Promise<RemoteLink> {
    try {
      const link = await this.#open(isLook);
      const { capabilities } = (await link.request("system.describe", {})) as Result<"system.describe">;
      this.#isPrivate = (capabilities["transports"] as unknown[] | undefined)?.includes("stdin") ?? true;
      if (!this.#isPrivate) this.#shared = undefined;
      else
        link.onLost.add(() => {
          this.#shared = this.#isPrivate = undefined;
          this.onForgotten();
        });
      return link;
    } catch (error) {
      this.#shared = undefined;
      throw error;
    }
  }

  async #open(isLook: boolean): Promise<RemoteLink> {
    const open: OpenCarrier | undefined = isLook ? this.opener.find : this.opener.open;
    if (!open) throw this.unavailable(false);
    this.#lastTry = performance.now();
    let link: RemoteLink;
    try {
      link = await RemoteLink.open(open);
    } catch (error) {
      this.#isVacant = error instanceof UnreachableError;
      if (this.#isVacant) this.#trouble = undefined;
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
    this.#trouble = undefined;
    this.#isVacant = false;
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
    this.#trouble = undefined; // what was wrong with another link: until now it could be reached
    this.#failed(error, error instanceof NoDaemonError || this.isPrivate);
  }

  #failed(error: Error, isHopeless: boolean): void {
    if (error instanceof NoDaemonError) this.onGone();
    const since = this.#trouble?.since ?? this.#silence?.since ?? new Date();
    this.#trouble = { since, reason: error.message, isHopeless };
  }
}

const silence = (): ReadFailures => ({ since: new Date(), reason: "it does not answer", isHopeless: false });
