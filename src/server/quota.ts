// What one connection may have at a time, so that one client does not use up what is there for all.
import { TrlError } from "../protocol/errors.ts";

export interface ConnectionLimits {
  /** 0 = no limit, for the first two. */
  sessions: number;
  commands: number;
  /** Requests that are answered at a time; more wait in the socket. */
  requests: number;
  /** Replies that have not been read; with more the connection is not read either. */
  queuedBytes: number;
}

let connections = 0;

export class Quota {
  /** By which what is kept for this connection is known. */
  readonly owner = `c${++connections}`;
  /** Those that it has made, and that may have ended since. */
  readonly #sessions = new Set<string>();
  #coming = 0;
  #commands = 0;

  constructor(readonly limits: ConnectionLimits) {}

  /** At once, where it can be made at once: replies keep the order of their requests. */
  makeSession<T extends { session_id: string }>(
    exists: (id: string) => boolean,
    make: () => T | Promise<T>,
  ): T | Promise<T> {
    const { sessions } = this.limits;
    if (sessions > 0 && this.#living(exists) + this.#coming >= sessions)
      throw new TrlError(
        "MAX_SESSIONS_REACHED",
        `this connection has made ${sessions} sessions, which is its limit`,
      );
    const made = make();
    if (!(made instanceof Promise)) return this.#remember(made);
    this.#coming++;
    return made.then((session) => this.#remember(session)).finally(() => this.#coming--);
  }

  #remember<T extends { session_id: string }>(made: T): T {
    this.#sessions.add(made.session_id);
    return made;
  }

  /** `run` starts a command and says when it has ended. */
  command<T>(run: () => { started: T; ended: Promise<unknown> }): T {
    const { commands } = this.limits;
    if (commands > 0 && this.#commands >= commands)
      throw new TrlError(
        "RESOURCE_PRESSURE",
        `this connection runs ${commands} commands, which is its limit`,
      );
    const { started, ended } = run();
    this.#commands++;
    const done = () => void this.#commands--;
    ended.then(done, done);
    return started;
  }

  #living(exists: (id: string) => boolean): number {
    for (const id of this.#sessions) if (!exists(id)) this.#sessions.delete(id);
    return this.#sessions.size;
  }
}
