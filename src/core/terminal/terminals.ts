// All terminals: those that live, and for a while those that have ended, with their code and their last screen.
import { TrlError } from "../../protocol/errors.ts";
import type { CreateParams } from "../../protocol/pty.ts";
import type { Journal } from "../../recovery/journal.ts";
import { terminalEnded, terminalStarted } from "../../recovery/notes.ts";
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
  screenProcessStartMs,
  terminalRingsBytesMax,
} from "../limits.ts";
import type { Log } from "../log.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { memoryLimit, requireDescriptors } from "../resources.ts";
import type { CoreOptions } from "../session/options.ts";
import { packIdle } from "./compress-idle.ts";
import { createTerminal, shellOf } from "./create-terminal.ts";
import { resumeTerminal } from "./resume-terminal.ts";
import { Screens } from "./screen/screens.ts";
import type { Terminal } from "./terminal.ts";
import { terminalExpiry } from "./terminal-expiry.ts";

export interface TerminalsContext {
  options: CoreOptions;
  isolations: IsolationFactory;
  ownership: ProcessOwnership;
  log: Log;
  journal: Journal | undefined;
  /** Throws where there is no room for one more. */
  refuseNew(): void;
  /** Terminals and sessions share their ids. */
  isTaken(id: string): boolean;
}

export class Terminals {
  /** Those that live, and behind them those that have ended. */
  readonly #live = new Map<string, Terminal>();
  readonly #exited = new Map<string, Terminal>();
  readonly #replacing = new Map<string, Promise<Terminal>>();
  #warmUp: Timer | undefined;
  readonly #screens: Screens;

  constructor(
    readonly context: TerminalsContext,
    readonly outputBytesMax = Math.min(terminalRingsBytesMax, memoryLimit() / 8),
  ) {
    this.#screens = new Screens(context.ownership, context.options.accelerators.plainStart);
  }

  readonly #mayKeep = (bytes: number): boolean =>
    this.list().reduce((sum, { ring }) => sum + ring.heldBytes, bytes) <= this.outputBytesMax;

  create(params: CreateParams, sessionIsolation?: SessionIsolation): Terminal {
    const { options, ownership, log, journal, refuseNew, isTaken } = this.context;
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
    const context = { options, ownership, screens: this.#screens, mayKeep: this.#mayKeep };
    const terminal = createTerminal(id, params, context, sessionIsolation);
    this.#forget(id);
    this.#live.set(id, terminal);
    journal?.write(terminalStarted(terminal));
    this.#warmUp ??= setTimeout(() => this.#screens.start(), screenProcessStartMs);
    log.info("terminal created", { session: id, driver: terminal.spec.driver.name });
    void terminal.done.then(() => this.#ended(terminal));
    return terminal;
  }

  /**
   * Where the program of a terminal of that id has ended and what it left running is being ended, the new one comes
   * after it, and who asks for it meanwhile waits.
   */
  createInTime(params: CreateParams): Terminal | Promise<Terminal> {
    const id = params.session_id;
    const before = id === undefined ? undefined : this.#live.get(id);
    const isWanted = this.context.isolations.isWanted(params.isolation);
    const create = () => (isWanted ? this.#createEnclosed(params) : this.create(params));
    if (id === undefined || this.#replacing.has(id) || (!before?.exit && !isWanted)) return create();
    const created = (before?.exit ? before.done : Promise.resolve())
      .then(create)
      .finally(() => this.#replacing.delete(id));
    this.#replacing.set(id, created);
    return created;
  }

  async #createEnclosed(params: CreateParams): Promise<Terminal> {
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

  /** One that another program has made, which has become this one. */
  resume(state: TerminalState, sessionIsolation: SessionIsolation | undefined, given: Unpacking): void {
    const { ownership, journal, options } = this.context;
    const { readsDirectly } = options.accelerators;
    const context = { ownership, screens: this.#screens, mayKeep: this.#mayKeep, readsDirectly };
    const terminal = resumeTerminal(state, given, sessionIsolation, context);
    journal?.write(terminal.exit ? terminalEnded(terminal) : terminalStarted(terminal));
    if (terminal.exit) return void this.#exited.set(state.id, terminal);
    this.#live.set(state.id, terminal);
    void terminal.done.then(() => this.#ended(terminal));
  }

  /** Nothing is on its way. */
  get isAtRest(): boolean {
    return this.#replacing.size === 0 && this.list().every(({ isAtRest }) => isAtRest);
  }

  /** Before an upgrade: screens are drawn that could not be made again. */
  preparePack(): void {
    for (const { picture } of this.list()) picture.preparePack();
  }

  /** The upgrade has not taken over. */
  forgetPack(): void {
    for (const { picture } of this.list()) picture.forgetPack();
  }

  /** Uses the terminal of that id; later, where it is about to be there. */
  use<T>(id: string, action: (terminal: Terminal) => T | Promise<T>): T | Promise<T> {
    const coming = this.#replacing.get(id);
    return coming ? coming.then(action) : action(this.get(id));
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

  /** Those whose program runs. */
  get live(): Terminal[] {
    return [...this.#live.values()].filter(({ exit }) => !exit);
  }

  list(): Terminal[] {
    return [...this.#live.values(), ...this.#exited.values()];
  }

  async closeAlongside(everybodysEnd: Promise<unknown>): Promise<void> {
    clearTimeout(this.#warmUp);
    await Promise.all([...this.#live.values()].map((terminal) => terminal.closeAlongside(everybodysEnd)));
  }

  /** To be called now and then. */
  tend(): void {
    const now = steadyMs();
    for (const terminal of this.list()) terminal.picture.rest();
    for (const terminal of this.#live.values()) {
      if (isOver(terminalExpiry(terminal))) void terminal.close();
    }
    packIdle(this.#live.values());
    for (const [id, { endedAt }] of this.#exited) {
      if (now - endedAt!.steadyMs >= exitedTerminalSeconds * 1000) this.#forget(id);
    }
  }

  #ended(terminal: Terminal): void {
    const { id, exit } = terminal;
    const { journal, log } = this.context;
    log.info("terminal ended", { session: id, exitCode: exit!.exitCode });
    for (const pid of terminal.left) log.error("a process could not be killed", { session: id, pid });
    if (this.#live.get(id) === terminal) this.#live.delete(id);
    this.#exited.set(id, terminal);
    journal?.write(terminalEnded(terminal));
    let bytes = [...this.#exited.values()].reduce((sum, { ring }) => sum + ring.heldBytes, 0);
    for (const [oldest, known] of this.#exited) {
      if (this.#exited.size > exitedTerminalsMax) this.#forget(oldest);
      else if (bytes > exitedTerminalBytesMax)
        void known.condense(); // how it ended, and its last screen, stay
      else break;
      bytes -= known.ring.heldBytes;
    }
  }

  #forget(id: string): void {
    this.#exited.get(id)?.picture.dispose();
    this.#exited.delete(id);
  }
}
