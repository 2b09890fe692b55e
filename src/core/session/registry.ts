// All sessions: ids, limits, cleanup of the idle and the old. Also owns every process that they start.

import { whenChildrenEnd } from "../../platform/child-exits.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams, CreateResult } from "../../protocol/session.ts";
import { CensusTaker } from "../../recovery/census-taker.ts";
import type { Journal } from "../../recovery/journal.ts";
import { commandEnded, commandStarted } from "../../recovery/notes.ts";
import type { SessionState } from "../../upgrade/schema/commands.ts";
import type { CoreState } from "../../upgrade/schema/document.ts";
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import { newId } from "../../util/ids.ts";
import { CommandStore } from "../command/store.ts";
import { resolveShell } from "../command/working-dir.ts";
import { IsolationFactory } from "../isolation/isolation-factory.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { earliestEnd, isOver } from "../lifetime/expiry.ts";
import { steadyMs } from "../lifetime/instant.ts";
import { cleanupIntervalMs, destroyGraceMs } from "../limits.ts";
import type { Log } from "../log.ts";
import { RestCollections } from "../process/garbage.ts";
import { ProcessOwnership } from "../process/ownership.ts";
import { terminate } from "../process/terminate.ts";
import { Terminals } from "../terminal/terminals.ts";
import { createSession, usualEnvOf } from "./create-session.ts";
import { describeCreated } from "./describe.ts";
import type { CoreOptions } from "./options.ts";
import { refuseUnderPressure } from "./pressure.ts";
import { resumeSession } from "./resume-session.ts";
import type { Session } from "./session.ts";
import type { SessionContext } from "./session-context.ts";

export class SessionRegistry {
  readonly ownership: ProcessOwnership;
  readonly commands: CommandStore;
  readonly terminals: Terminals;
  readonly isolations: IsolationFactory;
  readonly census: CensusTaker;
  #sessions = new Map<string, Session>();
  #commandsOfEnded: number;
  #shellCount: number;
  readonly #context: SessionContext;
  readonly #rest = new RestCollections();
  #isClosed = false;
  #nextEnd = Number.POSITIVE_INFINITY;
  /** Nothing new is begun: another program is to take this one's place. */
  isDraining = false;
  readonly #cleanup: Timer;
  /** Ids of sessions that live in other runtimes, so that none is given twice. */
  isTakenElsewhere: (id: string) => boolean = () => false;

  constructor(
    readonly options: CoreOptions,
    readonly log: Log,
    before?: CoreState,
    journal?: Journal,
  ) {
    const ownership = new ProcessOwnership(undefined, before?.custody, options.daemonTag);
    if (ownership.adoptsOrphans) whenChildrenEnd(() => ownership.reapEnded());
    this.ownership = ownership;
    this.census = new CensusTaker(ownership, journal);
    this.commands = new CommandStore(
      journal && {
        started: (record) => journal.write(commandStarted(record)),
        ended: (record) => journal.write(commandEnded(record)),
      },
    );
    this.#commandsOfEnded = before?.commandsOfEnded ?? 0;
    this.#shellCount = before?.shellCount ?? 0;
    const { commands } = this;
    const newShellDir = () => `${options.runDir}/${++this.#shellCount}`;
    const ofShells = { ownership, newShellDir, accelerators: options.accelerators.runners };
    this.#context = { options, commands, log, ...ofShells, usualEnv: usualEnvOf(options) };
    const limited = { ...options, maxProcesses: options.sessionMaxProcesses };
    this.isolations = new IsolationFactory(limited, ownership, before?.enclosures);
    this.terminals = new Terminals({
      ...{ options, log, journal, ownership },
      isolations: this.isolations,
      refuseNew: () => this.#refuseNew(),
      isTaken: (id) => this.#sessions.has(id) || this.isTakenElsewhere(id),
    });
    this.#cleanup = setInterval(() => this.#housekeeping(), cleanupIntervalMs);
  }

  /** `owner` is the connection that asks for it. */
  async create(params: CreateParams, owner?: string): Promise<CreateResult> {
    this.#refuseNew();
    const session = this.isolations.isWanted(params.isolation)
      ? await this.#createEnclosed(params, owner)
      : this.#create(params, undefined, owner);
    const { id } = session;
    const init = await session.open(params.init).catch(async (error: unknown) => {
      await this.#end(session, 0, "it could not be set up");
      throw error;
    });
    this.log.info("session created", { session: id, shell: session.spec.shell });
    return describeCreated(session, init);
  }

  /** What is asked for is tried first; meanwhile others may have taken the last place. */
  async #createEnclosed(params: CreateParams, owner: string | undefined): Promise<Session> {
    const sessionIsolation = await this.isolations.make(params.isolation, this.#shellFor(params));
    try {
      this.#refuseNew();
      return this.#create(params, sessionIsolation, owner);
    } catch (error) {
      await sessionIsolation?.dispose();
      throw error;
    }
  }

  #create(
    params: CreateParams,
    sessionIsolation: SessionIsolation | undefined,
    owner: string | undefined,
  ): Session {
    const id = newId("s", (taken) => this.has(taken) || this.isTakenElsewhere(taken));
    const session = createSession(id, params, this.#context, {
      ...{ shell: this.#shellFor(params), sessionIsolation, owner },
    });
    this.#sessions.set(id, session);
    this.#expect(session);
    return session;
  }

  /** One that another program has made, which has become this one. */
  resume(state: SessionState, sessionIsolation: SessionIsolation | undefined, given: Unpacking): void {
    const session = resumeSession(state, this.#context, sessionIsolation, given);
    this.#sessions.set(state.id, session);
    this.#expect(session);
  }

  /** Nothing is on its way: all of it may be handed over as it is. */
  get isAtRest(): boolean {
    return (
      this.isolations.isAtRest && this.terminals.isAtRest && this.list().every((session) => session.isAtRest)
    );
  }

  /** Shells that wait are let go, and output is taken in, however slow its readers are; until `goOn`. */
  rest(): void {
    for (const session of this.list()) session.spec.runner.rest();
    this.terminals.preparePack();
    this.#takeAll(true);
  }

  goOn(): void {
    this.terminals.forgetPack();
    this.#takeAll(false);
  }

  #takeAll(takesAll: boolean): void {
    for (const { runningCommand } of this.list())
      if (runningCommand) runningCommand.output.takesAll = takesAll;
  }

  get counts() {
    return { commandsOfEnded: this.#commandsOfEnded, shellCount: this.#shellCount };
  }

  #shellFor({ shell, isolation }: CreateParams): string {
    return resolveShell(shell ?? this.options.defaultShell, this.options.env, isolation?.root);
  }

  /** Of either kind; of a terminal something is kept for a while after its end. */
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

  /** A call that is about a session, if there still is one. */
  touch(id: string): void {
    this.#sessions.get(id)?.touch();
  }

  /** A session, or a terminal whose program runs. */
  readonly isLive = (id: string): boolean => this.#sessions.has(id) || this.terminals.isLive(id);

  list(): Session[] {
    return [...this.#sessions.values()];
  }

  /**
   * Resolves with the pids of what could not be killed. A terminal's program runs all the time, and is not asked whether
   * it is busy.
   */
  async destroy(id: string, force: boolean): Promise<number[]> {
    if (this.terminals.has(id)) return this.terminals.get(id).close();
    const session = this.get(id);
    if (session.isRunning && !force) {
      throw new TrlError("SESSION_BUSY", `session ${id} is running a command; "force" ends it`);
    }
    return await this.#end(session, destroyGraceMs, "asked for");
  }

  /** No new sessions, and everything that any of them started is dead when this resolves. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#cleanup);
    this.census.close();
    const survivors = terminate(this.ownership, "everything", { graceMs });
    await Promise.all([
      ...this.list().map((session) => session.destroyAlongside(survivors)),
      this.terminals.closeAlongside(survivors),
    ]);
    await this.isolations.close();
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
    if (this.isDraining) throw new TrlError("RUNTIME_UNAVAILABLE", "the daemon is about to be upgraded");
    if (this.liveCount >= maxSessions) {
      throw new TrlError("MAX_SESSIONS_REACHED", `there are ${maxSessions} sessions, which is the limit`);
    }
    refuseUnderPressure(this.options, this.log);
  }

  async #end(session: Session, graceMs: number, why: string): Promise<number[]> {
    const left = await session.destroy(graceMs);
    if (!this.#sessions.delete(session.id)) return left;
    this.#commandsOfEnded += session.commandCount;
    this.log.info("session ended", { session: session.id, why });
    for (const pid of left) this.log.error("a process could not be killed", { session: session.id, pid });
    return left;
  }

  #housekeeping(): void {
    this.#rest.tend(this.commands.tally.count + this.#shellCount);
    this.census.take();
    this.commands.forgetOld();
    this.terminals.tend();
    if (steadyMs() >= this.#nextEnd) this.#endExpired();
  }

  #endExpired(): void {
    this.#nextEnd = Number.POSITIVE_INFINITY;
    for (const session of this.list()) {
      const { expiry } = session;
      if (isOver(expiry)) void this.#end(session, destroyGraceMs, expiry.by);
      else this.#expect(session);
    }
  }

  /** Thousands that rest are not looked at before one of them could be over. */
  #expect({ lifetime }: Session): void {
    this.#nextEnd = Math.min(this.#nextEnd, earliestEnd(lifetime));
  }
}
