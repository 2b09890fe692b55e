// The echo of a keystroke is read right behind the write. The kernel has it within some microseconds, by threads of its
// own that want a processor: they get ours (to spin would keep it from them, to sleep would have us woken again). To be
// told of it in the usual way, by way of the event loop, takes longer than that. A program that has not answered in time
// is not waited for again until something it printed has come as soon as an echo.
import { fewOrView } from "../../util/few-bytes.ts";
import { echoMs, echoPatience, echoTurnMs, keystrokeBytesMax } from "../limits.ts";
import { giveWay } from "../process/short-wait.ts";
import { areFloods } from "./flood-rounds.ts";
import { awaitOutput } from "./flow.ts";

/** An echo is short; what is longer comes as all other output does. */
const memory = Buffer.allocUnsafeSlow(1024);

/** In this turn. Many keys may come in one, and nobody else is served until it is over. */
let waitedMs = 0;

function waited(ms: number): void {
  if (waitedMs === 0) queueMicrotask(endTurn);
  waitedMs += ms;
}

function endTurn(): void {
  waitedMs = 0;
}

export class EchoAtOnce {
  #isExpected = true;
  #lastTyped = Number.NEGATIVE_INFINITY;

  /** The bytes are there until this returns. */
  constructor(readonly onOutput: (chunk: Uint8Array) => void) {}

  /** What was typed has just been written. */
  typed(bytes: number, masterFd: number): void {
    if (bytes === 0 || bytes > keystrokeBytesMax) return;
    const began = performance.now();
    // Who floods wants every processor, and would have ours for milliseconds.
    if (!this.#isExpected || waitedMs > echoTurnMs || areFloods()) {
      this.#lastTyped = began;
      return;
    }
    const length = awaitOutput(masterFd, memory, echoPatience);
    waited(performance.now() - began);
    this.#isExpected = length > 0;
    if (length === 0) return;
    this.onOutput(fewOrView(memory, 0, length));
    giveWay(); // whoever was just woken by it mostly waits for our processor, and would until the reply is made, too
  }

  /** Something was printed, and has come in the usual way. */
  printed(): void {
    if (!this.#isExpected) this.#isExpected = performance.now() - this.#lastTyped < echoMs;
  }
}
