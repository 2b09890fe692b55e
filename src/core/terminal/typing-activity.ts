// Records which terminal received input last. While a client types in one terminal, floods of the others are slowed down
// to keep the echo fast. A terminal's own input does not slow its output: the echo comes after that output anyway.
import { typingMs } from "../limits.ts";

interface Input {
  terminal: object | undefined;
  at: number;
}

const never: Input = { terminal: undefined, at: Number.NEGATIVE_INFINITY };

export class TypingActivity {
  #last = never;
  /** The last input of any terminal other than that of `#last`. */
  #lastOther = never;

  note(terminal: object): void {
    if (this.#last.terminal !== terminal) this.#lastOther = this.#last;
    this.#last = { terminal, at: performance.now() };
  }

  /** True if another terminal received input in the last `typingMs`. */
  isBeside(terminal: object): boolean {
    const { at } = this.#last.terminal === terminal ? this.#lastOther : this.#last;
    return performance.now() - at < typingMs;
  }
}
