// One client's connection to one runtime: a link that is opened again when it is lost, requests that are sent again
// where that makes no difference, and what the client follows, taken up where it was.
import { TrlError } from "../protocol/errors.ts";
import { type MethodName, methods } from "../protocol/methods.ts";
import { Backoff } from "./backoff.ts";
import { delayMaxMs, firstDelayMs, requestPatienceMs } from "./limits.ts";
import { LinkLost, type RemoteLink } from "./link.ts";
import type { Runtime } from "./runtime.ts";
import type { RemoteSubscription } from "./subscriptions/subscription.ts";

export class RemoteConnection {
  readonly #followed = new Map<string, RemoteSubscription>();
  #link: RemoteLink | undefined;
  #reaching: Promise<RemoteLink> | undefined;
  #hadLink = false;
  readonly #stability = new Backoff();
  #isOver = false;
  /** The daemon there remembers who types and how large its window is: such a link is for nobody else. */
  #isRemembered = false;
  #farewells: Promise<unknown>[] = [];
  /** How large this client's windows are, by terminal: a new link must say so again. */
  readonly #sizes = new Map<string, unknown>();

  constructor(readonly runtime: Runtime) {}

  follows(id: string): boolean {
    return this.#followed.has(id);
  }

  followed(id: string): RemoteSubscription | undefined {
    return this.#followed.get(id);
  }

  /** The daemon's answer, or its error, as it is. */
  async request(method: MethodName, params: unknown): Promise<unknown> {
    this.#note(method, params);
    const mayRepeat = "isRepeatable" in methods[method];
    for (let patienceMs = this.#hadLink ? requestPatienceMs : 0; ; patienceMs = this.runtime.patienceMs) {
      try {
        return await this.once(method, params, { patienceMs });
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error;
        if (!mayRepeat) throw this.runtime.unavailable(true);
      }
    }
  }

  /** Sent once; rejects with LinkLost where the link was lost with it. A follower has the frames behind the answer. */
  async once(
    method: MethodName,
    params: unknown,
    how: { patienceMs?: number; received?: (data: unknown) => void; follower?: RemoteSubscription } = {},
  ): Promise<unknown> {
    const { patienceMs = this.#hadLink ? requestPatienceMs : 0, received, follower } = how;
    const link = this.#link ?? (await this.#reach(patienceMs));
    // The daemon there cannot tell apart who shares a link: what somebody else has asked for or given up must be answered
    // first, or one would get the other's frames, or be given up with the other.
    const { session_id, stream_id } = params as { session_id?: unknown; stream_id?: unknown };
    const ids = follower ? [follower.id] : [session_id, stream_id];
    for (let others = link.othersUnsettled(ids, this); others; others = link.othersUnsettled(ids, this)) {
      await others;
      if (this.#isOver) throw this.runtime.unavailable(false);
    }
    try {
      if (follower) return await this.#ask(link, follower, method, params, received);
      return await link.request(method, params, received);
    } catch (error) {
      throw error instanceof TrlError ? renamed(error, this.runtime) : error;
    }
  }

  /** Where it is not complete, the daemon there is told: it would go on sending, or wait for us to come back. */
  unfollow(follower: RemoteSubscription): void {
    if (this.#followed.get(follower.id) !== follower) return;
    this.#followed.delete(follower.id);
    this.#link?.unlisten(follower.id);
    if (!follower.isComplete && this.#link) this.#takeLeave(follower, this.#link);
  }

  /** Says something of which the answer does not matter. */
  tell(method: MethodName, params: unknown): void {
    void this.#link?.request(method, params).catch(() => {});
  }

  /** The client has gone. Its link is good for another one, unless the daemon there remembers the client by it. */
  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const follower of [...this.#followed.values()]) follower.end();
    const link = this.#link;
    this.#link = undefined;
    if (link) void Promise.all(this.#farewells).then(() => this.#letGo(link, !this.#isRemembered));
  }

  /** Asks for its frames. */
  async #ask(
    link: RemoteLink,
    follower: RemoteSubscription,
    method: MethodName,
    params: unknown,
    received?: (data: unknown) => void,
  ): Promise<unknown> {
    const { id } = follower;
    // Whether the id of a new command is free is for the daemon there to say.
    const isTaken = method !== "exec.stream" && link.isListenedTo(id) && !this.follows(id);
    if (isTaken) throw followedByAnother();
    return await link.arrange({ id, by: this }, method, params, (data) => {
      received?.(data);
      this.#follow(follower, link);
    });
  }

  /** Its frames are the follower's from now on, on this link and on those to come. */
  #follow(follower: RemoteSubscription, link: RemoteLink): void {
    // The client has gone while we asked, and the link may not be ours any more.
    if (follower.isOver) return void this.#takeLeave(follower, link);
    const { id } = follower;
    const before = this.#followed.get(id);
    this.#followed.set(id, follower);
    follower.link = link;
    link.listen(id, (frame) => this.#followed.get(id)?.take(frame));
    if (follower.takesPlace) before?.end();
  }

  #takeLeave({ id, farewell }: RemoteSubscription, link: RemoteLink): void {
    this.#farewells.push(link.arrange({ id, by: this }, ...farewell).catch(() => {}));
  }

  #letGo(link: RemoteLink, isClean: boolean): void {
    link.onLost.delete(this.#lost);
    this.runtime.rollBack(link, isClean);
  }

  #note(method: MethodName, params: unknown): void {
    const { session_id: id } = params as { session_id?: string };
    if (method === "pty.write" || method === "pty.resize") this.#isRemembered = true;
    if (method === "pty.resize" && id !== undefined) this.#sizes.set(id, params);
    if (id !== undefined && (method === "pty.close" || method === "session.destroy")) this.#sizes.delete(id);
  }

  /** Rejects with RUNTIME_UNAVAILABLE when it has taken too long, or is of no use. */
  #reach(patienceMs: number): Promise<RemoteLink> {
    const isHopeless = this.#isOver || this.#stability.unstableMs > this.runtime.patienceMs;
    if (isHopeless) return Promise.reject(this.runtime.unavailable(false));
    this.#reaching ??= this.#open().finally(() => {
      this.#reaching = undefined;
    });
    return this.#withPatience(this.#reaching, patienceMs);
  }

  async #withPatience(reaching: Promise<RemoteLink>, patienceMs: number): Promise<RemoteLink> {
    const deadline = performance.now() + patienceMs;
    for (let delayMs = firstDelayMs, attempt = reaching; ; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
      try {
        return await attempt;
      } catch (error) {
        const isHopeless = this.runtime.isHopeless || this.#isOver;
        if (isHopeless || performance.now() + delayMs > deadline) throw error;
      }
      await Bun.sleep(delayMs * (0.75 + Math.random() / 2));
      if (this.#link) return this.#link;
      this.#reaching ??= this.#open().finally(() => {
        this.#reaching = undefined;
      });
      attempt = this.#reaching;
    }
  }

  async #open(): Promise<RemoteLink> {
    await this.#stability.pause();
    const link = await this.runtime.link();
    this.#stability.opened();
    if (this.#isOver) {
      this.runtime.rollBack(link, true);
      throw this.runtime.unavailable(false);
    }
    this.#link = link;
    this.#hadLink = true;
    link.onLost.add(this.#lost);
    for (const size of this.#sizes.values()) void link.request("pty.resize", size).catch(() => {});
    for (const id of this.#followed.keys()) link.listen(id, (frame) => this.#followed.get(id)?.take(frame));
    return link;
  }

  readonly #lost = () => {
    this.#link = undefined;
    this.#stability.lost();
    for (const follower of [...this.#followed.values()])
      if (!follower.isComplete) void this.#resume(follower);
  };

  /** Until it goes on, or it is certain that it does not. */
  async #resume(follower: RemoteSubscription): Promise<void> {
    const isWanted = () => this.#followed.get(follower.id) === follower && !this.#isOver;
    try {
      const link = this.#link ?? (await this.#reach(this.runtime.patienceMs));
      // Several losses may have called us, and find the same link: what is asked for twice comes twice.
      if (!isWanted() || follower.link === link) return;
      follower.link = link;
      await follower.resume(link);
    } catch (error) {
      // A link that is lost meanwhile starts this anew.
      if (error instanceof LinkLost || !isWanted()) return;
      follower.lose(asLoss(error, this.runtime));
    }
  }
}

function followedByAnother(): TrlError {
  const message = "another client follows it, and this runtime is a single process with a single connection";
  return new TrlError("UNSUPPORTED", message);
}

/** An error that names a runtime names it as the client knows it: the daemon there calls itself "host". */
function renamed(error: TrlError, { name }: Runtime): TrlError {
  const { code, message, data } = error;
  if (typeof (data as { runtime?: unknown } | undefined)?.runtime !== "string") return error;
  return new TrlError(code, message, { ...(data as object), runtime: name });
}

/** It cannot be reached; or a daemon is there, and knows nothing of it. */
export function asLoss(error: unknown, runtime: Runtime): TrlError {
  if (!(error instanceof TrlError)) return runtime.unavailable(true);
  if (error.code.startsWith("RUNTIME_")) {
    const data = { ...(error.data as object), runtime: runtime.name, may_have_run: true };
    return new TrlError(error.code, error.message, data);
  }
  const reason = "the daemon there does not know it any more";
  const data = { runtime: runtime.name, since: new Date().toISOString(), reason, may_have_run: true };
  return new TrlError("RUNTIME_UNAVAILABLE", `lost in the runtime "${runtime.name}": ${reason}`, data);
}
