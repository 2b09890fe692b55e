// The patterns that `pty.wait` searches on one screen: which of them the screen process knows, and their outcomes.
import { TrlError } from "../../../protocol/errors.ts";
import type { Pattern, Refusal, Result, Work } from "./work.ts";

/** Rejects a wait with an expression that needs a backtracking engine. */
export class NeedsBacktracking extends Error {}

export const refusalError = ({ message, needsBacktracking }: Refusal): Error =>
  needsBacktracking ? new NeedsBacktracking() : new TrlError("INVALID_PARAMS", message);

interface Wait extends PromiseWithResolvers<"text" | "regex"> {
  pattern: Pattern;
  /** Output that scrolled away before this offset is not searched. */
  from: number;
}

export class Waits {
  readonly #waits = new Map<number, Wait>();
  #lastNumber = 0;
  /** Patterns to add to or remove from the screen process. */
  readonly #toSend = new Set<number>();

  get size(): number {
    return this.#waits.size;
  }

  get isSent(): boolean {
    return this.#toSend.size === 0;
  }

  add(pattern: Pattern, from: number): { number: number; found: Promise<"text" | "regex"> } {
    const number = ++this.#lastNumber;
    const wait = { ...Promise.withResolvers<"text" | "regex">(), pattern, from };
    wait.promise.catch(() => {}); // no unhandled rejection if the client has disconnected
    this.#waits.set(number, wait);
    this.#toSend.add(number);
    return { number, found: wait.promise };
  }

  /** True if the screen process has to be notified. */
  remove(number: number): boolean {
    if (!this.#waits.delete(number) || this.#toSend.delete(number)) return false;
    this.#toSend.add(number);
    return true;
  }

  /** Patterns to send now: a pattern is searched once the output before it is read. */
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

  /** The next offset at which reading has to stop, to send a pattern. */
  stopAfter(readTo: number): number {
    const from = [...this.#toSend].map((number) => this.#waits.get(number)?.from ?? 0);
    return Math.min(Number.POSITIVE_INFINITY, ...from.filter((offset) => offset > readTo));
  }

  /** For a fresh emulator, which must not search again what was searched before. */
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
