// Programs that print without end, as far as the daemon can read them itself: one after the other, a bounded piece each,
// and in between everybody else is served. While somebody types there is a long pause between two pieces: a flood keeps
// two cores busy, its program, the kernel's work on it and ours, and an echo would have to wait for them.
import {
  floodPieceBytes,
  floodTurnBytes,
  floodTurnPauseMs,
  outputWaitMs,
  politeReadPauseMs,
  quietFloodMs,
} from "../limits.ts";
import type { MasterReader } from "./drivers/master-reader-linux.ts";
import { isSomebodyTypingBeside } from "./typing.ts";

const memory = Buffer.allocUnsafeSlow(floodTurnBytes);
const floods: Flood[] = [];
let isScheduled = false;

export class Flood {
  #lastHeard = performance.now();
  #isOver = false;

  constructor(
    readonly reader: MasterReader,
    readonly terminal: object,
    /** The bytes are there until this returns. */
    readonly onOutput: (chunk: Uint8Array) => void,
    /** It is none any more, and is read as it prints. */
    readonly onEnd: () => void,
  ) {
    reader.pause();
    floods.push(this);
    schedule();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const at = floods.indexOf(this);
    if (at >= 0) floods.splice(at, 1);
    this.reader.resume();
    this.onEnd();
  }

  /** Its piece. How many bytes that was. */
  read(waitMs: number): number {
    const length = this.reader.read(memory, waitMs);
    const now = performance.now();
    if (length > 0) {
      this.#lastHeard = now;
      this.onOutput(memory.subarray(0, length));
    } else if (now - this.#lastHeard > quietFloodMs) this.end();
    return length;
  }
}

/** When any of them had much to say: for one that prints line by line, however many, nobody stays awake. */
let lastHeardMuch = 0;

function schedule(): void {
  if (isScheduled || floods.length === 0) return;
  isScheduled = true;
  if (isSomebodyTypingBeside(floods[0]!.terminal)) setTimeout(takeTurn, politeReadPauseMs);
  else if (performance.now() - lastHeardMuch < floodTurnPauseMs) setImmediate(takeTurn);
  else setTimeout(takeTurn, floodTurnPauseMs);
}

function takeTurn(): void {
  isScheduled = false;
  const flood = floods.shift();
  if (!flood) return;
  floods.push(flood);
  // The kernel's next 4 KB are worth to be waited for where the others are silent: to sleep and be woken takes longer.
  const isTheOnlyOne = floods.length === 1 || isSomebodyTypingBeside(flood.terminal);
  try {
    const length = flood.read(isTheOnlyOne ? outputWaitMs : 0);
    if (length >= floodPieceBytes) lastHeardMuch = performance.now();
  } finally {
    schedule(); // a bug in what is done with one's output must not silence all the others
  }
}
