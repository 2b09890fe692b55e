// All sessions: ids, limits, cleanup of the idle and the old. Also owns every process that they start.
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams, CreateResult } from "../../protocol/session.ts";
import { newId } from "../../util/ids.ts";
import { CommandStore } from "../exec/command-store.ts";
import { cleanupIntervalMs, destroyGraceMs } from "../limits.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "../options.ts";
import { Custody } from "../process/custody.ts";
import { terminate } from "../process/terminate.ts";
import { Terminals } from "../pty/terminals.ts";
import { createSession } from "./create-session.ts";
import { refuseUnderPressure } from "./pressure.ts";
import type { Session } from "./session.ts";

export class SessionRegistry {
  readonly custody = new Custody();
  readonly commands = new CommandStore();
  readonly terminals: Terminals;
  #sessions = new Map<string, Session>();
  #commandsOfEnded = 0;
  #shellCount = 0;
  #isClosed = false;
  readonly #cleanup: Timer;
  /** Ids of sessions that live in other runtimes, so that none is given twice. */
  isTakenElsewhere: (id: string) => boolean = () => false;

  constructor(
    readonly options: CoreOptions,
    readonly log: Log,
  ) {
    this.terminals = new Terminals({
      options,
      custody: this.custody,
      log,
      refuseNew: () => this.#refuseNew(),
      isTaken: (id) => this.#sessions.has(id) || this.isTakenElsewhere(id),
    });
    this.#cleanup = setInterval(() => this.#housekeeping(), cleanupIntervalMs);
  }

  async create(params: CreateParams): Promise<CreateResult> {
    this.#refuseNew();
    const id = newId("s", (taken) => this.has(taken) || this.isTakenElsewhere(taken));
    const session = createSession(id, params, {
      options: this.options,
      commands: this.commands,
      custody: this.custody,
      log: this.log,
      newShellDir: () => this.#newShellDir(),
    });
    this.#sessions.set(id, session);
    const init = await session.open(params.init).catch(async (error: unknown) => {
      await this.#end(session, 0, "it could not be set up");
      throw error;
    });
    this.log.info("session created", { session: id, shell: session.spec.shell });
    const { kind, last_activity, command_count, idle_timeout_s, ...summary } = session.summary();
    const created = { ...summary, stateful: session.spec.executor.isStateful };
    if (!init) return created;
    const { exit_code, stdout, stderr, reason } = init;
    return { ...created, init: { exit_code, stdout, stderr, reason } };
  }

  /** Of either kind. */
  has(id: string): boolean {
    return this.#sessions.has(id) || this.terminals.has(id);
  }

  get(id: string): Session {
    const session = this.#sessions.get(id);
    if (session) return session;
    if (!this.terminals.has(id))
      throw new TrlError("SESSION_NOT_FOUND", `there is no session ${id.slice(0, 128)}`);
    throw new TrlError(
      "INVALID_PARAMS",
      `session_id: ${id} is a terminal, for which there are the pty methods`,
    );
  }

  list(): Session[] {
    return [...this.#sessions.values()];
  }

  /** A terminal's program runs all the time, and is not asked whether it is busy. */
  async destroy(id: string, force: boolean): Promise<void> {
    if (this.terminals.has(id)) return this.terminals.get(id).close();
    const session = this.get(id);
    if (session.isRunning && !force) {
      throw new TrlError("SESSION_BUSY", `session ${id} is running a command; "force" ends it`);
    }
    await this.#end(session, destroyGraceMs, "asked for");
  }

  /** No new sessions, and everything that any of them started is dead when this resolves. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#cleanup);
    const survivors = terminate(this.custody, "everything", { graceMs });
    await Promise.all([
      ...this.list().map((session) => session.destroyAlongside(survivors)),
      this.terminals.closeAlongside(survivors),
    ]);
    for (const { pid } of await survivors) this.log.error("a process could not be killed", { pid });
  }

  /** Sessions, and terminals whose program runs. */
  get liveCount(): number {
    return this.#sessions.size + this.terminals.live.length;
  }

  get totalCommandsRun(): number {
    return this.list().reduce((sum, session) => sum + session.commandCount, this.#commandsOfEnded);
  }

  #refuseNew(): void {
    const { maxSessions } = this.options;
    if (this.#isClosed) throw new TrlError("RUNTIME_UNAVAILABLE", "the daemon is shutting down");
    if (this.liveCount >= maxSessions) {
      throw new TrlError("MAX_SESSIONS_REACHED", `there are ${maxSessions} sessions, which is the limit`);
    }
    refuseUnderPressure(this.options, this.log);
  }

  async #end(session: Session, graceMs: number, why: string): Promise<void> {
    await session.destroy(graceMs);
    if (!this.#sessions.delete(session.id)) return;
    this.#commandsOfEnded += session.commandCount;
    this.log.info("session ended", { session: session.id, why });
  }

  #housekeeping(): void {
    this.custody.tend();
    this.commands.forgetOld();
    this.terminals.tend();
    const { sessionTtlS } = this.options;
    for (const session of this.list()) {
      const ageS = (Date.now() - session.createdAt.getTime()) / 1000;
      const { idleTimeoutS } = session.spec;
      if (idleTimeoutS > 0 && session.idleSeconds >= idleTimeoutS) {
        void this.#end(session, destroyGraceMs, "idle");
      } else if (sessionTtlS > 0 && ageS >= sessionTtlS) {
        void this.#end(session, destroyGraceMs, "age");
      }
    }
  }

  #newShellDir(): string {
    return `${this.options.runDir}/${++this.#shellCount}`;
  }
}
