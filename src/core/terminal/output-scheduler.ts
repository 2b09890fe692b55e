// Fairness among floods, i.e. programs that print without end. With direct read, the FloodReader reads them in turns.
// Otherwise each terminal may print a bounded amount, then a valve stops its output and it waits for its turn; turns come
// one at a time, with a pause for the other clients. Measured with four floods on two cores: without turns, an echo takes
// more than 200 ms at p99.
//
// Ownership: a Terminal owns its OutputFlow, which stops and resumes the terminal's reader or valve. Output always reaches
// the Terminal by the driver's `onOutput`, and never by a callback of this file.

import { type OutputValve, valveOf } from "../../platform/terminal.ts";
import {
  floodTurnBytes,
  floodTurnPauseMs,
  loneFloodTurnBytes,
  politePauseMs,
  userDecidesMs,
} from "../limits.ts";
import type { PtyProcess } from "./drivers/driver.ts";
import { type Flood, FloodReader } from "./flood-reader.ts";
import { TypingActivity } from "./typing-activity.ts";

/** Shared by all terminals. */
export class OutputScheduler {
  readonly typing = new TypingActivity();
  readonly floods = new FloodReader(this.typing);
  readonly #stopped: OutputFlow[] = [];
  #isScheduled = false;

  /** True if no other flood waits for a turn and no client types in another terminal. */
  isQuietBeside(terminal: object): boolean {
    return this.#stopped.length === 0 && !this.typing.isBeside(terminal);
  }

  /** Resumes the flow when its turn comes. */
  enqueue(flow: OutputFlow): void {
    this.#stopped.push(flow);
    this.#scheduleNext();
  }

  remove(flow: OutputFlow): void {
    this.#stopped.splice(this.#stopped.indexOf(flow), 1);
  }

  #scheduleNext(): void {
    const [next] = this.#stopped;
    if (this.#isScheduled || !next) return;
    this.#isScheduled = true;
    const isTyping = this.typing.isBeside(next.terminal);
    const takeTurn = () => this.#takeTurn();
    // A single flood yields to pending events only.
    if (!isTyping && this.#stopped.length === 1) setImmediate(takeTurn);
    else setTimeout(takeTurn, isTyping ? politePauseMs : floodTurnPauseMs);
  }

  #takeTurn(): void {
    this.#isScheduled = false;
    this.#stopped.shift()?.resume();
    this.#scheduleNext();
  }
}

/** The output of one terminal. */
export class OutputFlow {
  #bytesInTurn = 0;
  #lastOutputAt = 0;
  /** The valve is closed until the scheduler resumes the flow. */
  #isStopped = false;
  #valve: OutputValve | undefined;
  #hasEnded = false;
  #freeUntil = 0;
  #flood: Flood | undefined;

  constructor(
    readonly scheduler: OutputScheduler,
    readonly terminal: object,
    readonly pty: Pick<PtyProcess, "pid" | "reader">,
  ) {}

  /** To be called for each chunk of output. */
  printed(bytes: number): void {
    if (this.#flood?.isOver === false) return;
    const now = performance.now();
    // After a pause the output is no flood.
    if (now - this.#lastOutputAt > floodTurnPauseMs && !this.#isStopped) this.#bytesInTurn = 0;
    this.#lastOutputAt = now;
    this.#bytesInTurn += bytes;
    if (this.pty.reader) this.#limitByReader(this.pty.reader);
    else this.#limitByValve(now);
  }

  #limitByReader(reader: Flood["reader"]): void {
    if (this.#bytesInTurn < floodTurnBytes || this.#hasEnded) return;
    this.#bytesInTurn = 0;
    this.#flood = this.scheduler.floods.add(reader, this.terminal);
  }

  #limitByValve(now: number): void {
    // Output that was in flight when the valve was closed, or that a ^Q of the user has restarted.
    if (this.#isStopped) this.#valve?.close();
    const turnBytes = this.scheduler.isQuietBeside(this.terminal) ? loneFloodTurnBytes : floodTurnBytes;
    if (this.#bytesInTurn < turnBytes || this.#isStopped || this.#hasEnded || now < this.#freeUntil) return;
    this.#valve ??= valveOf(this.pty.pid);
    if (!this.#valve) return;
    this.#valve.close();
    this.#isStopped = true;
    this.scheduler.enqueue(this);
  }

  /**
   * The user types ^S, which has no effect while the valve is closed, and which opening the valve would undo. So the
   * output flows for `userDecidesMs`, in which the terminal can process the ^S.
   */
  letUserDecide(): void {
    this.#freeUntil = performance.now() + userDecidesMs;
    this.release();
  }

  /** Resumes the output out of turn, e.g. before an upgrade: the new daemon does not know that it is stopped. */
  release(): void {
    this.#flood?.end();
    if (!this.#isStopped) return;
    this.scheduler.remove(this);
    this.resume();
  }

  resume(): void {
    this.#bytesInTurn = 0;
    this.#isStopped = false;
    if (!this.#hasEnded) this.#valve?.open();
  }

  /** The program has exited. */
  end(): void {
    this.#hasEnded = true;
    this.#flood?.end();
    this.#valve?.dispose();
    this.#valve = undefined;
  }
}
