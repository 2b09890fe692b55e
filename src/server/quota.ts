// Limits of one connection, so that one client cannot use up the daemon's sessions and commands.
import { TrlError } from "../protocol/errors.ts";

export interface ConnectionLimits {
  /** 0 = no limit, for the first two. */
  sessions: number;
  commands: number;
  /** Requests answered at the same time; more wait in the socket. */
  requests: number;
  /** Bytes of unread replies; beyond it the connection is not read. */
  queuedBytes: number;
}

export class Quota {
  /** Sessions that this connection has created; some may have ended since. */
  readonly #sessions = new Set<string>();
  #creating = 0;
  #commands = 0;

  constructor(
    readonly limits: ConnectionLimits,
    /** Names the connection among the owners that share the limit for ended commands. */
    readonly owner: string,
  ) {}

  /** Synchronous if `create` is: replies keep the order of their requests. */
  createSession<T extends { session_id: string }>(
    exists: (id: string) => boolean,
    create: () => T | Promise<T>,
  ): T | Promise<T> {
    const { sessions } = this.limits;
    if (sessions > 0 && this.#countLive(exists) + this.#creating >= sessions)
      throw new TrlError(
        "MAX_SESSIONS_REACHED",
        `this connection has made ${sessions} sessions, which is its limit`,
      );
    const created = create();
    if (!(created instanceof Promise)) return this.#remember(created);
    this.#creating++;
    return created.then((session) => this.#remember(session)).finally(() => this.#creating--);
  }

  #remember<T extends { session_id: string }>(created: T): T {
    this.#sessions.add(created.session_id);
    return created;
  }

  /** `run` starts a command; the command counts until `ended` settles. */
  runCommand<T>(run: () => { started: T; ended: Promise<unknown> }): T {
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

  #countLive(exists: (id: string) => boolean): number {
    for (const id of this.#sessions) if (!exists(id)) this.#sessions.delete(id);
    return this.#sessions.size;
  }
}
