// The size changes of one screen, each with the output offset at which it takes effect.
import type { ScreenState } from "../../../upgrade/schema/terminals.ts";
import type { TerminalSize } from "../drivers/driver.ts";

/** With more changes, a replay for a fresh emulator costs more than a redraw. */
const sizesMax = 32;

/** The size with which a fresh emulator begins. */
export const firstSizeOf = (state: ScreenState | undefined): TerminalSize | undefined =>
  state?.kind === "replay" ? state.firstSize : state?.size;

export type SizeChange = TerminalSize & { offset: number };

export class Sizes {
  #changes: SizeChange[] = [];
  #sent = 0;
  /** The emulator's size after the changes that were sent. */
  current: TerminalSize;

  constructor(
    /** The size with which a fresh emulator begins. */
    public first: TerminalSize,
  ) {
    this.current = first;
  }

  get changes(): SizeChange[] {
    return this.#changes;
  }

  restore(changes: SizeChange[]): void {
    this.#changes = changes;
  }

  /** False if there are too many changes for a replay. */
  add(size: TerminalSize, offset: number): boolean {
    const unsent = this.#changes.length - this.#sent;
    const replacesLast = unsent > 0 && (this.#changes.at(-1)!.offset === offset || unsent >= sizesMax);
    if (replacesLast) this.#changes.pop();
    this.#changes.push({ ...size, offset });
    return this.#changes.length <= sizesMax;
  }

  get next(): SizeChange | undefined {
    return this.#changes[this.#sent];
  }

  /** Marks the next change as sent, and returns its size. */
  advance(): TerminalSize {
    const { cols, rows } = this.#changes[this.#sent++]!;
    this.current = { cols, rows };
    return this.current;
  }

  /** For a fresh emulator. */
  rewind(): void {
    this.#sent = 0;
    this.current = this.first;
  }

  /** A fresh emulator does not need the changes that were sent. */
  forgetSent(): void {
    this.first = this.current;
    this.#changes.splice(0, this.#sent);
    this.#sent = 0;
  }

  /** A fresh emulator begins with the last size. */
  forgetAll(): void {
    const { cols, rows } = this.#changes.at(-1) ?? this.first;
    this.#changes = [];
    this.#sent = 0;
    this.first = this.current = { cols, rows };
  }
}
