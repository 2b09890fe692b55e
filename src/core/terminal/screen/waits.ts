// The patterns that `pty.wait` looks for on one screen: which of them its emulator knows, and how each ends.
import { TrlError } from "../../../protocol/errors.ts";
import type { Pattern, Refusal, Result, Work } from "./work.ts";

/** Rejects a wait for which only a backtracking engine will do. */
export class NeedsBacktracking extends Error {}

export const refusalError = ({ message, needsBacktracking }: Refusal): Error =>
  needsBacktracking ? new NeedsBacktracking() : new TrlError("INVALID_PARAMS", message);

interface Wait extends PromiseWithResolvers<"text" | "regex"> {
  pattern: Pattern;
  /** What has scrolled by before this offset does not count. */
  from: number;
}

let numbers = 0;

export class Waits {
  readonly #waits = new Map<number, Wait>();
  /** Those that the emulator does not know yet, or has to forget. */
  readonly #toSend = new Set<number>();

  get size(): number {
    return this.#waits.size;
  }

  get isSent(): boolean {
    return this.#toSend.size === 0;
  }

  add(pattern: Pattern, from: number): { number: number; found: Promise<"text" | "regex"> } {
    const number = ++numbers;
    const wait = { ...Promise.withResolvers<"text" | "regex">(), pattern, from };
    wait.promise.catch(() => {}); // the caller may have stopped listening
    this.#waits.set(number, wait);
    this.#toSend.add(number);
    return { number, found: wait.promise };
  }

  /** True where the emulator has to hear of it. */
  remove(number: number): boolean {
    if (!this.#waits.delete(number) || this.#toSend.delete(number)) return false;
    this.#toSend.add(number);
    return true;
  }

  /** A pattern is looked for when everything before it is read. */
  due(readTo: number): Work["patterns"] {
    const due: Work["patterns"] = [];
    for (const number of this.#toSend) {
      const wait = this.#waits.get(number);
      if (wait && wait.from > readTo) continue;
      this.#toSend.delete(number);
      due.push([number, wait?.pattern]);
    }
    return due;
  }

  /** Reading has to stop here, so that a pattern can be sent. */
  stopBehind(readTo: number): number {
    const from = [...this.#toSend].map((number) => this.#waits.get(number)?.from ?? 0);
    return Math.min(Number.POSITIVE_INFINITY, ...from.filter((offset) => offset > readTo));
  }

  /** A fresh emulator knows none of them, and must not find what was looked through before. */
  sendAgain(readTo: number): void {
    this.#toSend.clear();
    for (const [number, wait] of this.#waits) {
      wait.from = Math.max(wait.from, readTo);
      this.#toSend.add(number);
    }
  }

  settle({ found, refused }: Result): void {
    for (const [number, kind] of found) this.#waits.get(number)?.resolve(kind);
    for (const [number, refusal] of refused) this.#waits.get(number)?.reject(refusalError(refusal));
    for (const [number] of [...found, ...refused]) this.#waits.delete(number);
  }

  rejectAll(why: string): void {
    const error = new TrlError(
      "RESOURCE_PRESSURE",
      `the screen of this terminal cannot be waited for: ${why}`,
    );
    for (const { reject } of this.#waits.values()) reject(error);
    this.clear();
  }

  clear(): void {
    this.#waits.clear();
    this.#toSend.clear();
  }
}
