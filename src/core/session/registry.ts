// All sessions: creates them, finds them by id, ends the idle and the old ones. Closing it ends every owned process.
import { onChildrenEnded } from "../../platform/children.ts";
import { IdleCollector } from "../../platform/garbage.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams, CreateResult } from "../../protocol/session.ts";
import type { CoreState } from "../../upgrade/schema/document.ts";
import { newId } from "../../util/ids.ts";
import type { RunnerAccelerators } from "../command/runners/accelerators.ts";
import { CommandStore } from "../command/store.ts";
import { resolveShell } from "../command/working-dir.ts";
import { IsolationFactory } from "../isolation/isolation-factory.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { earliestEnd, isOver } from "../lifetime/expiry.ts";
import { steadyMs } from "../lifetime/instant.ts";
import { cleanupIntervalMs, destroyGraceMs } from "../limits.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "../options.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { terminate } from "../process/terminate.ts";
import type { TerminalAccelerators } from "../terminal/create-terminal.ts";
import { Terminals } from "../terminal/terminals.ts";
import { refuseUnderPressure } from "./admission.ts";
import { createSession, usualEnvOf } from "./create-session.ts";
import { describeCreated } from "./describe.ts";
import { noEvents, type RuntimeEvents } from "./events.ts";
import type { Session } from "./session.ts";
import type { SessionContext } from "./session-spec.ts";
import { ShellProbes, unknownAbilities } from "./shell-probes.ts";

/** Implementations of src/fast that the daemon injects. */
export interface CoreAccelerators extends TerminalAccelerators {
  runners: RunnerAccelerators;
}

export interface SessionRegistrySpec {
  options: CoreOptions;
  accelerators: CoreAccelerators;
  log: Log;
  ownership: ProcessOwnership;
  events?: RuntimeEvents | undefined;
  /** Whether another runtime has a live session of that id: an id is given once only. */
  isRemoteId?: (id: string) => boolean;
  /** The state that an upgrade hands over; `restoreCore` adds its sessions. */
  before?: CoreState | undefined;
}

export class SessionRegistry {
  readonly options: CoreOptions;
  readonly log: Log;
  readonly ownership: ProcessOwnership;
  readonly events: RuntimeEvents;
  readonly commands: CommandStore;
  readonly terminals: Terminals;
  readonly isolations: IsolationFactory;
  readonly shellProbes: ShellProbes;
  /** Shared by all sessions. */
  readonly context: SessionContext;
  readonly #isRemoteId: (id: string) => boolean;
  readonly #sessions = new Map<string, Session>();
  /** Commands that ended sessions have run. */
  #commandsOfEnded: number;
  #shellCount: number;
  readonly #rest = new IdleCollector();
  #isClosed = false;
  /** No session expires before this steady time, so that housekeeping does not check thousands of idle sessions. */
  #nextExpiryMs = Number.POSITIVE_INFINITY;
  /** Refuses new sessions and terminals while an upgrade waits for the existing ones. */
  isDraining = false;
  readonly #housekeepingTimer: Timer;

  constructor(spec: SessionRegistrySpec) {
    const {
      options,
      accelerators,
      log,
      ownership,
      events = noEvents,
      isRemoteId = () => false,
      before,
    } = spec;
    this.options = options;
    this.log = log;
    this.ownership = ownership;
    this.events = events;
    this.#isRemoteId = isRemoteId;
    if (ownership.adoptsOrphans) onChildrenEnded(() => ownership.reapEnded());
    this.commands = new CommandStore(events);
    this.#commandsOfEnded = before?.commandsOfEnded ?? 0;
    this.#shellCount = before?.shellCount ?? 0;
    this.context = {
      ...{ options, log, ownership, commands: this.commands },
      newShellDir: () => `${options.runDir}/${++this.#shellCount}`,
      accelerators: accelerators.runners,
      usualEnv: usualEnvOf(options),
    };
    this.shellProbes = new ShellProbes(this.context, (id) => this.has(id) || isRemoteId(id));
    const limited = { ...options, maxProcesses: options.sessionMaxProcesses };
    this.isolations = new IsolationFactory(limited, ownership, before?.enclosures);
    this.terminals = new Terminals({
      options: { ...options, accelerators },
      ...{ log, events, ownership },
      isolations: this.isolations,
      refuseNew: () => this.#refuseNew(),
      isTaken: (id) => this.#sessions.has(id) || isRemoteId(id),
    });
    this.#housekeepingTimer = setInterval(() => this.#housekeeping(), cleanupIntervalMs);
  }

  /** `owner` is the id of the connection that sends the request. */
  async create(params: CreateParams, owner?: string): Promise<CreateResult> {
    this.#refuseNew();
    if (this.#needsProbe(params)) {
      await this.shellProbes.probe(this.#shellFor(params));
      this.#refuseNew(); // other sessions may have been created meanwhile
    }
    const session = this.isolations.isWanted(params.isolation)
      ? await this.#createIsolated(params, owner)
      : this.#create(params, undefined, owner);
    const { id } = session;
    const init = await session.open(params.init).catch(async (error: unknown) => {
      await this.#end(session, 0, "it could not be set up");
      throw error;
    });
    this.log.info("session created", { session: id, shell: session.spec.shell });
    return describeCreated(session, init);
  }

  /** The first session with a shell waits for its probe. In another root no state is kept. */
  #needsProbe(params: CreateParams): boolean {
    if (params.stateful === false || (params.isolation?.root ?? "/") !== "/") return false;
    return this.shellProbes.known(this.#shellFor(params)) === undefined;
  }

  /** Checks the limits again after the isolation was made: other sessions may have been created meanwhile. */
  async #createIsolated(params: CreateParams, owner: string | undefined): Promise<Session> {
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
    const id = newId("s", (taken) => this.has(taken) || this.#isRemoteId(taken));
    const shell = this.#shellFor(params);
    const isHosts = (params.isolation?.root ?? "/") === "/"; // another root has its own shell at that path
    const abilities = (isHosts ? this.shellProbes.known(shell) : undefined) ?? unknownAbilities(shell);
    if (abilities.failure !== undefined && params.stateful !== false)
      throw new TrlError("SPAWN_FAILED", abilities.failure);
    const setup = { shell, sessionIsolation, owner, abilities };
    const session = createSession(id, params, this.context, setup);
    this.add(session);
    return session;
  }

  /** Also for a session that an upgrade hands over. */
  add(session: Session): void {
    this.#sessions.set(session.id, session);
    this.#expectExpiry(session);
  }

  /** True while everything can be serialized for an upgrade. */
  get isAtRest(): boolean {
    return (
      this.isolations.isAtRest &&
      this.shellProbes.isAtRest &&
      this.terminals.isAtRest &&
      this.list().every((session) => session.isAtRest)
    );
  }

  /** Ends warm shells and lifts backpressure, so that everything comes to rest; until `cancelUpgrade`. */
  prepareUpgrade(): void {
    for (const session of this.list()) session.spec.runner.rest();
    this.terminals.preparePack();
    this.#setTakesAll(true);
  }

  cancelUpgrade(): void {
    this.terminals.forgetPack();
    this.#setTakesAll(false);
  }

  #setTakesAll(takesAll: boolean): void {
    for (const { runningCommand } of this.list())
      if (runningCommand) runningCommand.output.takesAll = takesAll;
  }

  /** Counters that an upgrade hands over. */
  get counts() {
    return { commandsOfEnded: this.#commandsOfEnded, shellCount: this.#shellCount };
  }

  #shellFor({ shell, isolation }: CreateParams): string {
    return resolveShell(shell ?? this.options.defaultShell, this.options.env, isolation?.root);
  }

  /** A session or a terminal; ended terminals are retained for a while. */
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

  /** Restarts the idle timeout of the session, if it exists. */
  touch(id: string): void {
    this.#sessions.get(id)?.touch();
  }

  /** A session, or a terminal with a running program. */
  readonly isLive = (id: string): boolean => this.#sessions.has(id) || this.terminals.isLive(id);

  list(): Session[] {
    return [...this.#sessions.values()];
  }

  /**
   * Resolves with the pids of processes that could not be killed. `force` is needed for a session with a running
   * command; a terminal is always closed, since its program always runs.
   */
  async destroy(id: string, force: boolean): Promise<number[]> {
    if (this.terminals.has(id)) return this.terminals.get(id).close();
    const session = this.get(id);
    if (session.isRunning && !force) {
      throw new TrlError("SESSION_BUSY", `session ${id} is running a command; "force" ends it`);
    }
    return await this.#end(session, destroyGraceMs, "asked for");
  }

  /** Refuses new sessions and ends every owned process. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#housekeepingTimer);
    this.events.closing();
    const survivors = terminate(this.ownership, "everything", { graceMs });
    await Promise.all([
      ...this.list().map((session) => session.destroyAlongside(survivors)),
      this.terminals.closeAlongside(survivors),
    ]);
    await this.isolations.close();
    for (const { pid } of await survivors) this.log.error("a process could not be killed", { pid });
  }

  /** Sessions, and terminals with a running program. */
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
    const survivors = await session.destroy(graceMs);
    if (!this.#sessions.delete(session.id)) return survivors;
    this.#commandsOfEnded += session.commandCount;
    this.log.info("session ended", { session: session.id, why });
    for (const pid of survivors)
      this.log.error("a process could not be killed", { session: session.id, pid });
    return survivors;
  }

  #housekeeping(): void {
    this.#rest.tick(this.commands.tally.count + this.#shellCount);
    this.ownership.adoptAndReap();
    this.events.processesChanged();
    this.commands.forgetOld();
    this.terminals.tend();
    if (steadyMs() >= this.#nextExpiryMs) this.#endExpired();
  }

  #endExpired(): void {
    this.#nextExpiryMs = Number.POSITIVE_INFINITY;
    for (const session of this.list()) {
      const { expiry } = session;
      if (isOver(expiry)) void this.#end(session, destroyGraceMs, expiry.by);
      else this.#expectExpiry(session);
    }
  }

  #expectExpiry({ lifetime }: Session): void {
    this.#nextExpiryMs = Math.min(this.#nextExpiryMs, earliestEnd(lifetime));
  }
}
