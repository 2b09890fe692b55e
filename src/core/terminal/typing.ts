// Whether somebody types, and where: programs that print without end at other terminals then get a part of the machine
// only. At one's own there is no echo to wait for but behind what is printed; a keystroke often is what lets it print.
import { typingMs } from "../limits.ts";

interface Typed {
  /** The terminal. */
  at: object | undefined;
  when: number;
}

const never: Typed = { at: undefined, when: Number.NEGATIVE_INFINITY };
let last = never;
let lastElsewhere = never;

export function noteTyped(at: object): void {
  if (last.at !== at) lastElsewhere = last;
  last = { at, when: performance.now() };
}

export function isSomebodyTypingBeside(terminal: object): boolean {
  const { when } = last.at === terminal ? lastElsewhere : last;
  return performance.now() - when < typingMs;
}
