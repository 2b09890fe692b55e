// A client of one daemon. `call` speaks the wire's language and knows every method by the table; sessions, streams and
// terminals are handles that speak JavaScript's.
import { type MethodName, methods, type Params, type Result } from "../protocol/methods.ts";
import { told } from "./callbacks.ts";
import type { OpenCarrier } from "./carriers/carrier.ts";
import { CommandStream } from "./command-stream.ts";
import { ConnectionError, isTrlError } from "./errors.ts";
import type { Host, HostCallOptions } from "./host.ts";
import { type Options, wireParams } from "./naming.ts";
import { type ConnectionState, PersistentLink, type ReconnectOptions } from "./persistent-link.ts";
import { findNamed } from "./resolve.ts";
import { Session, type SessionOptions } from "./session.ts";
import { Terminal, type TerminalOptions } from "./terminal.ts";
import { TerminalFeeds } from "./terminal-feeds.ts";

export interface CallOptions {
  /** Stops waiting for the answer; what was asked for may still be done. */
  signal?: AbortSignal;
}

type CallArguments<M extends MethodName> =
  Record<string, never> extends Params<M>
    ? [params?: Params<M>, options?: CallOptions]
    : [params: Params<M>, options?: CallOptions];

export class Trl implements AsyncDisposable {
  readonly #link: PersistentLink;
  readonly #stateListeners = new Set<(state: ConnectionState, error?: Error) => void>();
  readonly #host: Host = {
    call: (method, params, options) => this.#call(method, params, options),
    follow: (follower) => this.#link.follow(follower),
    unfollow: (follower) => this.#link.unfollow(follower),
  };
  readonly #feeds = new TerminalFeeds(this.#host);

  private constructor(open: OpenCarrier, { patienceS = 5 }: ReconnectOptions) {
    this.#link = new PersistentLink(open, patienceS);
    this.#link.onState = (state, error) => {
      for (const listener of this.#stateListeners) told(() => listener(state, error));
    };
  }

  static async over(open: OpenCarrier, options: ReconnectOptions = {}): Promise<Trl> {
    const trl = new Trl(open, options);
    await trl.#link.openOnce();
    return trl;
  }

  /** Any method, by its name; names of fields are the wire's. */
  call<M extends MethodName>(method: M, ...[params, options]: CallArguments<M>): Promise<Result<M>> {
    return this.#call(method, (params ?? {}) as Params<M>, options);
  }

  /**
   * A new session. Disposing of it destroys it, with everything that runs in it; with `reuse` it is the one of that
   * name where there is one, and disposing only lets go of it.
   */
  async session({ reuse = false, ...options }: SessionOptions = {}): Promise<Session> {
    if (reuse && options.name === undefined) throw new TypeError("session: reuse needs a name");
    const found = reuse ? await this.#findSession(options.name!) : undefined;
    if (found) return new Session(this.#host, found, false);
    const created = await this.#call("session.create", wireParams("session.create", options));
    return new Session(this.#host, created, !reuse);
  }

  /** One that exists, by its name, its id, or the beginning of its id. */
  async openSession(nameOrId: string): Promise<Session> {
    const { sessions } = await this.#call("session.list", {});
    const exec = sessions.filter(({ kind }) => kind === "exec");
    return new Session(this.#host, findNamed(exec, nameOrId), false);
  }

  /** A new terminal. `reuse` and disposing are as with sessions; the name is `sessionId`, else `name`. */
  async terminal({ reuse = false, ...options }: TerminalOptions = {}): Promise<Terminal> {
    const wanted = options.sessionId ?? options.name;
    if (reuse && wanted === undefined) throw new TypeError("terminal: reuse needs a sessionId or a name");
    const found = reuse ? await this.#findTerminal(wanted!) : undefined;
    const summary =
      found ??
      (await this.#call("pty.create", wireParams("pty.create", options)).catch(async (error: unknown) => {
        // Several windows that open together all find nothing; one of them is the first to make it.
        const made =
          reuse && isTrlError(error, "INVALID_PARAMS") ? await this.#findTerminal(wanted!) : undefined;
        if (!made) throw error;
        return made;
      }));
    return new Terminal(this.#host, summary, this.#feeds, !reuse);
  }

  /** One that exists, or has ended lately, by its name, its id, or the beginning of its id. */
  async openTerminal(nameOrId: string): Promise<Terminal> {
    const { sessions } = await this.#call("pty.list", {});
    const found = findNamed(sessions, nameOrId);
    return new Terminal(this.#host, found, this.#feeds, false);
  }

  /** The output of a command that runs or has ended lately, from its beginning or from where it was left. */
  follow(commandId: string, from: Options<"exec.attach", "stream_id"> = {}): CommandStream {
    return CommandStream.follow(this.#host, commandId, wireParams("exec.attach", from));
  }

  /** Gives a function that ends the listening. */
  onState(listener: (state: ConnectionState, error?: Error) => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  /** Whatever waits for an answer gets a ConnectionError. Sessions and terminals live on. */
  close(): Promise<void> {
    return this.#link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A request that may have been carried out is sent again only where that makes no difference. */
  async #call<M extends MethodName>(
    method: M,
    params: Partial<Params<M>>,
    { signal, unsentSignal = signal }: HostCallOptions = {},
  ): Promise<Result<M>> {
    unsentSignal?.throwIfAborted();
    for (let attempt = 1; ; attempt++) {
      const link = await unlessAborted(this.#link.get(), unsentSignal);
      try {
        return (await link.request(method, params, { signal })) as Result<M>;
      } catch (error) {
        const isLost = error instanceof ConnectionError;
        const mayRepeat = isLost && (!error.mayHaveRun || "isRepeatable" in methods[method]);
        if (!mayRepeat || attempt === attemptsMax) throw error;
      }
    }
  }

  async #findSession(name: string) {
    const { sessions } = await this.#call("session.list", {});
    return sessions.findLast((it) => it.kind === "exec" && it.name === name && it.state !== "terminated");
  }

  async #findTerminal(wanted: string) {
    const { sessions } = await this.#call("pty.list", {});
    const live = sessions.filter(({ state }) => state === "running");
    return (
      live.find(({ session_id }) => session_id === wanted) ?? live.findLast(({ name }) => name === wanted)
    );
  }
}

const attemptsMax = 5;

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await promise;
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
  });
  const value = await Promise.race([promise, aborted]).finally(() =>
    signal.removeEventListener("abort", abort),
  );
  signal.throwIfAborted(); // both at once
  return value;
}
