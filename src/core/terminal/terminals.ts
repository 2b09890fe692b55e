// All terminals of the daemon: the live ones, and for a while the ended ones with their exit code and final screen.

import { memoryLimit } from "../../platform/own-process.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams } from "../../protocol/pty.ts";
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import type { TerminalState } from "../../upgrade/schema/terminals.ts";
import { newId } from "../../util/ids.ts";
import type { IsolationFactory } from "../isolation/isolation-factory.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { isOver } from "../lifetime/expiry.ts";
import { steadyMs } from "../lifetime/instant.ts";
import {
  exitedTerminalBytesMax,
  exitedTerminalSeconds,
  exitedTerminalsMax,
  packBytesPerTurn,
  ringIdleMs,
  screenProcessStartMs,
  terminalRingsBytesMax,
} from "../limits.ts";
import type { Log } from "../log.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { requireDescriptors } from "../resources.ts";
import { createTerminal, restoreTerminal, shellOf, type TerminalOptions } from "./create-terminal.ts";
import { OutputScheduler } from "./output-scheduler.ts";
import { Screens } from "./screen/screens.ts";
import type { SharedServices } from "./start-program.ts";
import type { Terminal } from "./terminal.ts";

/** Reported to a receiver outside of the core; also for terminals that an upgrade hands over. */
export interface TerminalEvents {
  terminalStarted(terminal: Terminal): void;
  terminalEnded(terminal: Terminal): void;
}

export interface TerminalsContext {
  options: TerminalOptions;
  isolations: IsolationFactory;
  ownership: ProcessOwnership;
  log: Log;
  events: TerminalEvents;
  /** Throws if the daemon accepts no new sessions. */
  refuseNew(): void;
  /** True for the id of a session; terminals and sessions share one namespace. */
  isTaken(id: string): boolean;
}

export class Terminals {
  readonly #live = new Map<string, Terminal>();
  readonly #exited = new Map<string, Terminal>();
  /** By id: terminals that are created once their predecessor of the same id has ended. */
  readonly #replacing = new Map<string, Promise<Terminal>>();
  #lastSerial = 0;
  #screenStart: Timer | undefined;
  readonly #screens: Screens;
  readonly #services: SharedServices;

  constructor(
    readonly context: TerminalsContext,
    readonly outputBytesMax = Math.min(terminalRingsBytesMax, memoryLimit() / 8),
  ) {
    const { ownership } = context;
    this.#screens = new Screens(ownership);
    const mayKeep = (bytes: number) =>
      this.list().reduce((sum, { ring }) => sum + ring.heldBytes, bytes) <= this.outputBytesMax;
    this.#services = { ownership, screens: this.#screens, scheduler: new OutputScheduler(), mayKeep };
  }

  create(params: CreateParams, sessionIsolation?: SessionIsolation): Terminal {
    const { options, log, events, refuseNew, isTaken } = this.context;
    refuseNew();
    requireDescriptors();
    if (
      params.session_id !== undefined &&
      (this.#live.has(params.session_id) || isTaken(params.session_id))
    ) {
      throw new TrlError("INVALID_PARAMS", `session_id: ${params.session_id} is in use`);
    }
    const isKnown = (id: string) => this.#live.has(id) || this.#exited.has(id) || isTaken(id);
    const id = params.session_id ?? newId("s", isKnown);
    const identity = { id, serial: ++this.#lastSerial };
    const terminal = createTerminal(identity, params, options, this.#services, sessionIsolation);
    this.#forget(id);
    this.#live.set(id, terminal);
    events.terminalStarted(terminal);
    this.#screenStart ??= setTimeout(() => this.#screens.start(), screenProcessStartMs);
    log.info("terminal created", { session: id, driver: terminal.spec.driver.name });
    void terminal.done.then(() => this.#ended(terminal));
    return terminal;
  }

  /**
   * `create`, but if the program of a terminal with that id has exited and its processes are still being terminated, the
   * new terminal is created afterwards. Until then `use` waits for it.
   */
  createInTime(params: CreateParams): Terminal | Promise<Terminal> {
    const id = params.session_id;
    const predecessor = id === undefined ? undefined : this.#live.get(id);
    const isIsolated = this.context.isolations.isWanted(params.isolation);
    const create = () => (isIsolated ? this.#createIsolated(params) : this.create(params));
    if (id === undefined || this.#replacing.has(id) || (!predecessor?.exit && !isIsolated)) return create();
    const created = (predecessor?.exit ? predecessor.done : Promise.resolve())
      .then(create)
      .finally(() => this.#replacing.delete(id));
    this.#replacing.set(id, created);
    return created;
  }

  async #createIsolated(params: CreateParams): Promise<Terminal> {
    const { isolations, options, refuseNew } = this.context;
    refuseNew();
    const sessionIsolation = await isolations.make(params.isolation, shellOf(params, options));
    try {
      return this.create(params, sessionIsolation);
    } catch (error) {
      await sessionIsolation?.dispose();
      throw error;
    }
  }

  /** Restores a terminal after an upgrade. */
  resume(state: TerminalState, sessionIsolation: SessionIsolation | undefined, unpacking: Unpacking): void {
    const { events, options } = this.context;
    const restored = { state, unpacking };
    const terminal = restoreTerminal(++this.#lastSerial, restored, this.#services, options, sessionIsolation);
    if (terminal.exit) {
      events.terminalEnded(terminal);
      this.#exited.set(state.id, terminal);
      return;
    }
    events.terminalStarted(terminal);
    this.#live.set(state.id, terminal);
    void terminal.done.then(() => this.#ended(terminal));
  }

  /** An upgrade may save all terminals now. */
  get isAtRest(): boolean {
    return this.#replacing.size === 0 && this.list().every(({ isAtRest }) => isAtRest);
  }

  /** Before an upgrade: redraws the screens that cannot be rebuilt from the stored output. */
  preparePack(): void {
    for (const { picture } of this.list()) picture.preparePack();
  }

  /** The upgrade was rolled back. */
  forgetPack(): void {
    for (const { picture } of this.list()) picture.forgetPack();
  }

  /** Runs `action` with the terminal of that id, if necessary after its creation. */
  use<T>(id: string, action: (terminal: Terminal) => T | Promise<T>): T | Promise<T> {
    const created = this.#replacing.get(id);
    return created ? created.then(action) : action(this.get(id));
  }

  has(id: string): boolean {
    return this.#live.has(id) || this.#exited.has(id);
  }

  isLive(id: string): boolean {
    const terminal = this.#live.get(id);
    return terminal !== undefined && !terminal.exit;
  }

  get(id: string): Terminal {
    const terminal = this.#live.get(id) ?? this.#exited.get(id);
    if (!terminal) throw new TrlError("SESSION_NOT_FOUND", `there is no terminal ${id.slice(0, 128)}`);
    return terminal;
  }

  /** Terminals with a running program. */
  get live(): Terminal[] {
    return [...this.#live.values()].filter(({ exit }) => !exit);
  }

  list(): Terminal[] {
    return [...this.#live.values(), ...this.#exited.values()];
  }

  /** Closes all terminals while the caller terminates all processes of the daemon. */
  async closeAlongside(termination: Promise<unknown>): Promise<void> {
    clearTimeout(this.#screenStart);
    await Promise.all([...this.#live.values()].map((terminal) => terminal.closeAlongside(termination)));
  }

  /** Periodic maintenance: frees memory, closes expired terminals, forgets old ones. */
  tend(): void {
    const now = steadyMs();
    for (const terminal of this.list()) terminal.picture.closeIdle();
    for (const terminal of this.#live.values()) {
      if (isOver(terminal.expiry)) void terminal.close();
    }
    this.#compressIdle(now);
    for (const [id, { endedAt }] of this.#exited) {
      if (now - endedAt!.steadyMs >= exitedTerminalSeconds * 1000) this.#forget(id);
    }
  }

  /** Compresses the output of idle terminals, a bounded amount per call. */
  #compressIdle(now: number): void {
    let bytes = 0;
    for (const { isAttended, lastActivity, ring } of this.#live.values()) {
      if (isAttended || now - lastActivity.steadyMs < ringIdleMs) continue;
      bytes += ring.compress();
      if (bytes > packBytesPerTurn) return;
    }
  }

  #ended(terminal: Terminal): void {
    const { id, exit } = terminal;
    const { events, log } = this.context;
    log.info("terminal ended", { session: id, exitCode: exit!.exitCode });
    for (const pid of terminal.left) log.error("a process could not be killed", { session: id, pid });
    if (this.#live.get(id) === terminal) this.#live.delete(id);
    this.#exited.set(id, terminal);
    events.terminalEnded(terminal);
    this.#boundExited();
  }

  /** Beyond the limit of bytes, ended terminals keep their exit and final screen only. */
  #boundExited(): void {
    let bytes = [...this.#exited.values()].reduce((sum, { ring }) => sum + ring.heldBytes, 0);
    for (const [id, oldest] of this.#exited) {
      if (this.#exited.size > exitedTerminalsMax) this.#forget(id);
      else if (bytes > exitedTerminalBytesMax) void oldest.condense();
      else break;
      bytes -= oldest.ring.heldBytes;
    }
  }

  #forget(id: string): void {
    this.#exited.get(id)?.picture.dispose();
    this.#exited.delete(id);
  }
}
