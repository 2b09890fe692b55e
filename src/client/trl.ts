// A client of one daemon. `call` takes any method of the table in the spelling of the wire; sessions, streams and
// terminals are handles in JavaScript's spelling.
import { TrlError } from "../protocol/errors.ts";
import { type MethodName, methods, type Params, type Result } from "../protocol/methods.ts";
import { notify } from "./callbacks.ts";
import type { OpenCarrier } from "./carriers/carrier.ts";
import { CommandStream } from "./command-stream.ts";
import { ConnectionError, isTrlError } from "./errors.ts";
import type { Host, HostCallOptions } from "./host.ts";
import { type Options, wireParams } from "./naming.ts";
import { type ConnectionState, PersistentLink, type ReconnectOptions } from "./persistent-link.ts";
import { Session, type SessionOptions } from "./session.ts";
import { Terminal, type TerminalOptions } from "./terminal.ts";
import { TerminalFeeds } from "./terminal-feeds.ts";

export interface CallOptions {
  /** Stops waiting for the reply; the daemon may still execute the request. */
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
    subscribe: (subscription) => this.#link.subscribe(subscription),
    unsubscribe: (subscription) => this.#link.unsubscribe(subscription),
  };
  readonly #feeds = new TerminalFeeds(this.#host);

  private constructor(open: OpenCarrier, options: ReconnectOptions) {
    this.#link = new PersistentLink(open, options, (state, error) => {
      for (const listener of this.#stateListeners) notify(() => listener(state, error));
    });
  }

  static async over(open: OpenCarrier, options: ReconnectOptions = {}): Promise<Trl> {
    const trl = new Trl(open, options);
    await trl.#link.openOnce();
    return trl;
  }

  /** Any method by its name, with fields in the spelling of the wire. */
  call<M extends MethodName>(method: M, ...[params, options]: CallArguments<M>): Promise<Result<M>> {
    return this.#call(method, (params ?? {}) as Params<M>, options);
  }

  /**
   * Creates a session. Disposing of the handle destroys the session and all processes in it. With `reuse`, the handle
   * is for the session of that name if there is one, and disposing of it leaves the session alone.
   */
  async session({ reuse = false, ...options }: SessionOptions = {}): Promise<Session> {
    if (reuse && options.name === undefined) throw new TypeError("session: reuse needs a name");
    const found = reuse ? await this.#findSession(options.name!) : undefined;
    if (found) return new Session(this.#host, found, false);
    const created = await this.#call("session.create", wireParams("session.create", options));
    return new Session(this.#host, created, !reuse);
  }

  /** An existing session, by its name, its id, or a prefix of its id. */
  async openSession(nameOrId: string): Promise<Session> {
    const { sessions } = await this.#call("session.list", {});
    const exec = sessions.filter(({ kind }) => kind === "exec");
    return new Session(this.#host, findNamed(exec, nameOrId), false);
  }

  /** Creates a terminal. `reuse` and disposing work as for sessions; `reuse` looks for `sessionId`, else for `name`. */
  async terminal({ reuse = false, ...options }: TerminalOptions = {}): Promise<Terminal> {
    const wanted = options.sessionId ?? options.name;
    if (reuse && wanted === undefined) throw new TypeError("terminal: reuse needs a sessionId or a name");
    const found = reuse ? await this.#findTerminal(wanted!) : undefined;
    const summary =
      found ??
      (await this.#call("pty.create", wireParams("pty.create", options)).catch(async (error: unknown) => {
        // Race: several windows that open at once find no terminal, and only one of them creates it.
        const made =
          reuse && isTrlError(error, "INVALID_PARAMS") ? await this.#findTerminal(wanted!) : undefined;
        if (!made) throw error;
        return made;
      }));
    return new Terminal(this.#host, summary, this.#feeds, !reuse);
  }

  /** An existing or recently ended terminal, by its name, its id, or a prefix of its id. */
  async openTerminal(nameOrId: string): Promise<Terminal> {
    const { sessions } = await this.#call("pty.list", {});
    const found = findNamed(sessions, nameOrId);
    return new Terminal(this.#host, found, this.#feeds, false);
  }

  /** Output of a running or recently ended command, from the start or from given offsets. */
  follow(commandId: string, from: Options<"exec.attach", "stream_id"> = {}): CommandStream {
    return CommandStream.follow(this.#host, commandId, wireParams("exec.attach", from));
  }

  /** Returns a function that removes the listener. */
  onState(listener: (state: ConnectionState, error?: Error) => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  /** Pending requests reject with a ConnectionError. Sessions and terminals live on. */
  close(): Promise<void> {
    return this.#link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Sends a request again that the daemon may have executed only if the method is repeatable. */
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
  signal.throwIfAborted(); // both may have settled at once
  return value;
}

interface Named {
  session_id: string;
  name: string | null;
  state: string;
}

const isLive = ({ state }: Named) => state !== "exited" && state !== "terminated";

/** An id wins; then the newest live one with that name, else the newest; then a prefix of an id that only one has. */
function findNamed<T extends Named>(all: T[], wanted: string): T {
  const named = all.filter(({ name }) => name === wanted);
  const exact = all.find(({ session_id }) => session_id === wanted) ?? named.findLast(isLive) ?? named.at(-1);
  if (exact) return exact;
  const candidates = all.filter(({ session_id }) => hasPrefix(session_id, wanted));
  if (candidates.length === 1) return candidates[0]!;
  if (candidates.length === 0) throw new TrlError("SESSION_NOT_FOUND", `there is no session ${wanted}`);
  const ids = candidates.map(({ session_id }) => session_id);
  throw new TrlError("INVALID_PARAMS", `${wanted} may be ${ids.join(" or ")}`);
}

/** The prefix may leave out the `s-` or `x-` of an id that the daemon made. */
const hasPrefix = (id: string, wanted: string): boolean =>
  wanted !== "" && (id.startsWith(wanted) || (/^[sx]-/.test(id) && id.slice(2).startsWith(wanted)));
