// Reads floods, i.e. programs that print without end, by direct read: round robin, one bounded piece per turn of the event
// loop, so that other clients are served in between. While a client types in another terminal there is a long pause
// between two pieces: a flood occupies two cores (the program, the kernel, the daemon), and the echo would wait for them.
import { floodPieceBytes, floodTurnPauseMs, politeReadPauseMs, quietFloodMs } from "../limits.ts";
import type { MasterReader } from "./drivers/master-reader-linux.ts";
import type { TypingActivity } from "./typing-activity.ts";

/** A terminal that the FloodReader polls; its own readiness events are off meanwhile. */
export class Flood {
  #lastOutputAt = performance.now();
  #isOver = false;

  constructor(
    readonly reader: Pick<MasterReader, "deliver" | "pause" | "resume">,
    readonly terminal: object,
  ) {
    reader.pause();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The terminal is read by readiness events again. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.reader.resume();
  }

  /** Delivers one piece and returns its length. Without output for `quietFloodMs`, the flood is over. */
  deliver(mayWait: boolean): number {
    const length = this.reader.deliver(mayWait);
    const now = performance.now();
    if (length > 0) this.#lastOutputAt = now;
    else if (now - this.#lastOutputAt > quietFloodMs) this.end();
    return length;
  }
}

export class FloodReader {
  #floods: Flood[] = [];
  #isScheduled = false;
  /** When a flood last delivered a large piece. Small pieces are polled by timer, so that the processor can sleep. */
  #lastLargePieceAt = 0;

  constructor(readonly typing: TypingActivity) {}

  /** Takes over the reading of a terminal until the flood is over. */
  add(reader: Flood["reader"], terminal: object): Flood {
    const flood = new Flood(reader, terminal);
    this.#floods.push(flood);
    this.#schedule();
    return flood;
  }

  #schedule(): void {
    const [next] = this.#floods;
    if (this.#isScheduled || !next) return;
    this.#isScheduled = true;
    const takeTurn = () => this.#takeTurn();
    if (this.typing.isBeside(next.terminal)) setTimeout(takeTurn, politeReadPauseMs);
    else if (performance.now() - this.#lastLargePieceAt < floodTurnPauseMs) setImmediate(takeTurn);
    else setTimeout(takeTurn, floodTurnPauseMs);
  }

  #takeTurn(): void {
    this.#isScheduled = false;
    this.#floods = this.#floods.filter(({ isOver }) => !isOver);
    const flood = this.#floods.shift();
    if (!flood) return;
    this.#floods.push(flood);
    // The kernel hands out 4 KB at a time: to wait for the next ones is faster than another turn, if no other
    // terminal has anything to do meanwhile.
    const mayWait = this.#floods.length === 1 && !this.typing.isBeside(flood.terminal);
    try {
      const length = flood.deliver(mayWait);
      if (length >= floodPieceBytes) this.#lastLargePieceAt = performance.now();
    } finally {
      this.#schedule(); // an exception of one terminal's output must not stop the others
    }
  }
}
