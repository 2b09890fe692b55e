// Whether somebody types, and where: programs that print without end at other terminals then get a part of the machine
// only. At one's own there is no echo to wait for but behind what is printed; a keystroke often is what lets it print.
import { typingMs } from "../limits.ts";

interface Typed {
  /** The terminal. */
  at: object | undefined;
  when: number;
}

const never: Typed = { at: undefined, when: Number.NEGATIVE_INFINITY };

export class Typing {
  #last = never;
  #lastElsewhere = never;

  note(at: object): void {
    if (this.#last.at !== at) this.#lastElsewhere = this.#last;
    this.#last = { at, when: performance.now() };
  }

  isGoingOnBeside(terminal: object): boolean {
    const { when } = this.#last.at === terminal ? this.#lastElsewhere : this.#last;
    return performance.now() - when < typingMs;
  }
}

/** At the terminals of this process, but for those of a rehearsal. */
export const typing = new Typing();

export const isSomebodyTypingBeside = (terminal: object): boolean => typing.isGoingOnBeside(terminal);
