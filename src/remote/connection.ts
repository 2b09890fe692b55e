// One client's connection to one runtime: reconnects a lost link, sends repeatable requests again, and resumes the
// client's subscriptions where they were.
import { Backoff, retryDelayMs } from "../client/backoff.ts";
import { ConnectionError } from "../client/errors.ts";
import { TrlError } from "../protocol/errors.ts";
import { type MethodName, methods } from "../protocol/methods.ts";
import { requestTimeoutMs, retryDelays, stableMs } from "./limits.ts";
import type { RemoteLink } from "./link.ts";
import type { Runtime } from "./runtime.ts";
import type { RemoteFrame } from "./subscriptions/frame-text.ts";
import type { RemoteSubscription } from "./subscriptions/subscription.ts";

export interface SendOptions {
  /** How long to wait for a link. */
  timeoutMs?: number;
  /** Called with the reply's data before any frame that arrives behind the reply. */
  received?: ((data: unknown) => void) | undefined;
  /** Gets the frames that arrive behind the reply. */
  subscription?: RemoteSubscription;
}

export class RemoteConnection {
  readonly #subscriptions = new Map<string, RemoteSubscription>();
  #link: RemoteLink | undefined;
  #opening: Promise<RemoteLink> | undefined;
  #hadLink = false;
  readonly #flapping = new FlapGuard();
  #isReleased = false;
  /** The remote daemon ties input and window sizes to the link, so another client must not use it. */
  #isTainted = false;
  #detachReplies: Promise<unknown>[] = [];
  /** The client's window sizes by terminal, which a new link must send again. */
  readonly #sizes = new Map<string, unknown>();

  constructor(readonly runtime: Runtime) {}

  subscriptionOf(id: string): RemoteSubscription | undefined {
    return this.#subscriptions.get(id);
  }

  /** Resolves to the remote daemon's reply; rejects with its error, or with RUNTIME_UNAVAILABLE. */
  async request(method: MethodName, params: unknown): Promise<unknown> {
    this.#noteClientState(method, params);
    const isRepeatable = "isRepeatable" in methods[method];
    for (let timeoutMs = this.#firstTimeoutMs; ; timeoutMs = this.runtime.retryTimeoutMs) {
      try {
        return await this.send(method, params, { timeoutMs });
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        if (!isRepeatable) throw this.runtime.unavailable(true);
      }
    }
  }

  /** Sends a request once; rejects with a ConnectionError if the link is lost before the reply. */
  async send(method: MethodName, params: unknown, options: SendOptions = {}): Promise<unknown> {
    const { timeoutMs = this.#firstTimeoutMs, received, subscription } = options;
    const link = this.#link ?? (await this.#reach(timeoutMs));
    // The remote daemon cannot distinguish the clients of a shared link. Arrangements of others for the same id must
    // settle first, or this client would get their frames, or they would end with its detach.
    const { session_id, stream_id } = params as { session_id?: unknown; stream_id?: unknown };
    const ids = subscription ? [subscription.id] : [session_id, stream_id];
    for (let others = link.othersUnsettled(ids, this); others; others = link.othersUnsettled(ids, this)) {
      await others;
      if (this.#isReleased) throw this.runtime.unavailable(false);
    }
    try {
      if (subscription) return await this.#subscribe(link, subscription, method, params, received);
      return await link.request(method, params, { received });
    } catch (error) {
      throw error instanceof TrlError ? withRuntimeName(error, this.runtime) : error;
    }
  }

  /** Sends a request and ignores its reply. */
  notify(method: MethodName, params: unknown): void {
    void this.#link?.request(method, params).catch(() => {});
  }

  /** Detaches from the remote daemon unless the output is complete: it would go on sending, or wait for a resume. */
  unsubscribe(subscription: RemoteSubscription): void {
    if (this.#subscriptions.get(subscription.id) !== subscription) return;
    this.#subscriptions.delete(subscription.id);
    this.#link?.unlisten(subscription.id, this.#deliver);
    if (!subscription.isComplete && this.#link) this.#detach(subscription, this.#link);
  }

  /** The client has disconnected. Its link goes back to the pool, unless the remote daemon ties client state to it. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    for (const subscription of [...this.#subscriptions.values()]) subscription.end();
    const link = this.#link;
    this.#link = undefined;
    if (!link) return;
    void Promise.all(this.#detachReplies).then(() => {
      link.onLost.delete(this.#lost);
      this.runtime.giveBack(link, !this.#isTainted);
    });
  }

  /** The first attempt of a client that has never had a link does not wait: the runtime may have been down for long. */
  get #firstTimeoutMs(): number {
    return this.#hadLink ? requestTimeoutMs : 0;
  }

  async #subscribe(
    link: RemoteLink,
    subscription: RemoteSubscription,
    method: MethodName,
    params: unknown,
    received: SendOptions["received"],
  ): Promise<unknown> {
    const { id } = subscription;
    // exec.stream brings a new id, and the remote daemon decides whether it is free.
    const isTaken = method !== "exec.stream" && link.hasListener(id) && !this.#subscriptions.has(id);
    if (isTaken) throw followedByAnother();
    return await link.arrange({ id, by: this }, method, params, {
      received: (data) => {
        received?.(data);
        this.#attach(subscription, link);
      },
    });
  }

  /** From now on the subscription gets the frames of its id, on this link and on later ones. */
  #attach(subscription: RemoteSubscription, link: RemoteLink): void {
    // The client has disconnected during the request, and another client may use the link.
    if (subscription.isOver) return void this.#detach(subscription, link);
    const { id } = subscription;
    const previous = this.#subscriptions.get(id);
    this.#subscriptions.set(id, subscription);
    subscription.link = link;
    link.listen(id, this.#deliver);
    if (subscription.replacesPrevious) previous?.end();
  }

  readonly #deliver = (frame: RemoteFrame) => this.#subscriptions.get(frame.id)?.receive(frame);

  #detach({ id, detachRequest }: RemoteSubscription, link: RemoteLink): void {
    this.#detachReplies.push(link.arrange({ id, by: this }, ...detachRequest).catch(() => {}));
  }

  #noteClientState(method: MethodName, params: unknown): void {
    const { session_id: id } = params as { session_id?: string };
    if (method === "pty.write" || method === "pty.resize") this.#isTainted = true;
    if (method === "pty.resize" && id !== undefined) this.#sizes.set(id, params);
    if (id !== undefined && (method === "pty.close" || method === "session.destroy")) this.#sizes.delete(id);
  }

  /** Rejects with RUNTIME_UNAVAILABLE after the timeout, or as soon as retries are of no use. */
  async #reach(timeoutMs: number): Promise<RemoteLink> {
    if (this.#isReleased || this.#flapping.durationMs > this.runtime.retryTimeoutMs)
      throw this.runtime.unavailable(false);
    const backoff = new Backoff({ ...retryDelays, timeoutMs });
    for (;;) {
      this.#opening ??= this.#open().finally(() => {
        this.#opening = undefined;
      });
      try {
        return await this.#opening;
      } catch (error) {
        if (this.runtime.isPermanentlyGone || this.#isReleased || backoff.isExhausted) throw error;
      }
      await backoff.wait();
      if (this.#link) return this.#link;
    }
  }

  async #open(): Promise<RemoteLink> {
    await this.#flapping.delay();
    const link = await this.runtime.link();
    this.#flapping.opened();
    if (this.#isReleased) {
      this.runtime.giveBack(link, true);
      throw this.runtime.unavailable(false);
    }
    this.#link = link;
    this.#hadLink = true;
    link.onLost.add(this.#lost);
    for (const size of this.#sizes.values()) void link.request("pty.resize", size).catch(() => {});
    for (const id of this.#subscriptions.keys()) link.listen(id, this.#deliver);
    return link;
  }

  readonly #lost = () => {
    this.#link = undefined;
    this.#flapping.lost();
    for (const subscription of [...this.#subscriptions.values()])
      if (!subscription.isComplete) void this.#resume(subscription);
  };

  /** Ends when the subscription continues, or cannot continue. */
  async #resume(subscription: RemoteSubscription): Promise<void> {
    const isCurrent = () => this.#subscriptions.get(subscription.id) === subscription && !this.#isReleased;
    try {
      const link = this.#link ?? (await this.#reach(this.runtime.retryTimeoutMs));
      // Several losses may lead to one link, and a second request on it would send the output twice.
      if (!isCurrent() || subscription.link === link) return;
      subscription.link = link;
      await subscription.resume(link);
    } catch (error) {
      // If the link was lost meanwhile, `#lost` starts another resume.
      if (error instanceof ConnectionError || !isCurrent()) return;
      subscription.fail(asLoss(error, this.runtime));
    }
  }
}

/** Slows reconnecting down while links open and are lost at once: each attempt succeeds, and none is usable. */
class FlapGuard {
  #openedAt = 0;
  #lossesInARow = 0;
  #since: number | undefined;

  /** How long no link has been stable. */
  get durationMs(): number {
    return this.#since === undefined ? 0 : performance.now() - this.#since;
  }

  opened(): void {
    this.#openedAt = performance.now();
  }

  lost(): void {
    const now = performance.now();
    const wasStable = now - this.#openedAt >= stableMs;
    this.#lossesInARow = wasStable ? 1 : this.#lossesInARow + 1;
    this.#since = wasStable ? now : (this.#since ?? now);
  }

  /** The first loss is retried at once, the following ones later and later. */
  async delay(): Promise<void> {
    if (this.#lossesInARow > 1) await Bun.sleep(retryDelayMs(retryDelays, this.#lossesInARow));
  }
}

function followedByAnother(): TrlError {
  const message = "another client follows it, and this runtime is a single process with a single connection";
  return new TrlError("UNSUPPORTED", message);
}

/** An error that names a runtime uses the client's name for it: the remote daemon calls itself "host". */
function withRuntimeName(error: TrlError, { name }: Runtime): TrlError {
  const { code, message, data } = error;
  if (typeof (data as { runtime?: unknown } | undefined)?.runtime !== "string") return error;
  return new TrlError(code, message, { ...(data as object), runtime: name });
}

/** The error of a subscription that cannot continue: the runtime is unreachable, or its daemon no longer has the id. */
export function asLoss(error: unknown, runtime: Runtime): TrlError {
  if (!(error instanceof TrlError)) return runtime.unavailable(true);
  if (error.code.startsWith("RUNTIME_")) {
    const data = { ...(error.data as object), runtime: runtime.name, may_have_run: true };
    return new TrlError(error.code, error.message, data);
  }
  const reason = "the remote daemon no longer has it";
  const data = { runtime: runtime.name, since: new Date().toISOString(), reason, may_have_run: true };
  return new TrlError("RUNTIME_UNAVAILABLE", `lost in the runtime "${runtime.name}": ${reason}`, data);
}
