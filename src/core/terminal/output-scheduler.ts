// Fairness among programs that print without end. Where it can be had, the daemon reads them itself (flood-rounds.ts).
// Otherwise each may print so much, then its output is stopped and it waits for its turn; turns come one at a time, with
// a pause in which everybody else is served. Measured with four floods on two cores: without turns an echo takes more
// than 200 ms at p99.

import { type OutputValve, valveOf } from "../../platform/terminal.ts";
import {
  floodTurnBytes,
  floodTurnPauseMs,
  loneFloodTurnBytes,
  politePauseMs,
  userDecidesMs,
} from "../limits.ts";
import type { PtyProcess } from "./drivers/driver.ts";
import type { MasterReader } from "./drivers/master-reader-linux.ts";
import { Flood } from "./flood-reader.ts";
import { isSomebodyTypingBeside } from "./typing.ts";

const waiting: OutputScheduler[] = [];
let isScheduled = false;

function scheduleNext(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  const isTyping = isSomebodyTypingBeside(waiting[0]!.terminal);
  // One flood by itself waits for those who have something to do now, and for nobody else.
  if (!isTyping && waiting.length === 1) setImmediate(takeTurn);
  else setTimeout(takeTurn, isTyping ? politePauseMs : floodTurnPauseMs);
}

function takeTurn(): void {
  isScheduled = false;
  waiting.shift()?.begin();
  scheduleNext();
}

/** One terminal's part. */
export class OutputScheduler {
  #printedBytes = 0;
  #lastPrinted = 0;
  #isWaiting = false;
  #valve: OutputValve | undefined;
  #isOver = false;
  #freeUntil = 0;
  /** While the daemon reads it itself. */
  #flood: Flood | undefined;

  constructor(
    readonly terminal: object,
    readonly pty: Pick<PtyProcess, "pid" | "reader">,
    readonly onOutput: (chunk: Uint8Array) => void,
  ) {}

  printed(bytes: number): void {
    if (this.#flood) return;
    const now = performance.now();
    // Who has been quiet for a moment is no flood.
    if (now - this.#lastPrinted > floodTurnPauseMs && !this.#isWaiting) this.#printedBytes = 0;
    this.#lastPrinted = now;
    this.#printedBytes += bytes;
    const { reader, pid } = this.pty;
    if (reader) {
      if (this.#printedBytes >= floodTurnBytes && !this.#isOver) this.#flood = this.#floodOf(reader);
      return;
    }
    const isAlone = waiting.length === 0 && !isSomebodyTypingBeside(this.terminal);
    const turnBytes = isAlone ? loneFloodTurnBytes : floodTurnBytes;
    // What had been on its way already; the reading is stopped all the same.
    if (this.#isWaiting) this.#valve?.close();
    if (this.#printedBytes < turnBytes || this.#isWaiting || this.#isOver) return;
    if (now < this.#freeUntil) return;
    this.#valve ??= valveOf(pid);
    if (!this.#valve) return;
    this.#valve.close();
    this.#isWaiting = true;
    waiting.push(this);
    scheduleNext();
  }

  #floodOf(reader: MasterReader): Flood {
    return new Flood(reader, this.terminal, this.onOutput, () => {
      this.#flood = undefined;
      this.#printedBytes = 0;
    });
  }

  /**
   * The user stops the output (^S), or lets it go on. While it is stopped for us that would have no effect, and our
   * opening would undo it: so it flows for a moment, in which the terminal can take what was typed.
   */
  letUserDecide(): void {
    this.#freeUntil = performance.now() + userDecidesMs;
    this.letFlow();
  }

  /** Out of turn: whoever comes after us does not know that we stopped it. */
  letFlow(): void {
    this.#flood?.end();
    if (!this.#isWaiting) return;
    waiting.splice(waiting.indexOf(this), 1);
    this.begin();
  }

  begin(): void {
    this.#printedBytes = 0;
    this.#isWaiting = false;
    if (!this.#isOver) this.#valve?.open();
  }

  /** The program has ended. */
  end(): void {
    this.#isOver = true;
    this.#flood?.end();
    this.#valve?.dispose();
    this.#valve = undefined;
  }
}
