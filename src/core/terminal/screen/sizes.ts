// The sizes of one screen, each from the offset in the output where it was set.
import type { ScreenState } from "../../../upgrade/schema/terminals.ts";
import type { TerminalSize } from "../drivers/driver.ts";

/** To repeat more than this for a fresh emulator would take longer than to keep what they have made. */
const sizesMax = 32;

/** With which a fresh emulator begins. */
export const firstSizeOf = (state: ScreenState | undefined): TerminalSize | undefined =>
  state?.kind === "replay" ? state.firstSize : state?.size;

export type SizeChange = TerminalSize & { offset: number };

export class Sizes {
  #changes: SizeChange[] = [];
  #sent = 0;
  /** The emulator's, after what was sent to it. */
  current: TerminalSize;

  constructor(
    /** With which a fresh emulator begins. */
    public first: TerminalSize,
  ) {
    this.current = first;
  }

  get changes(): SizeChange[] {
    return this.#changes;
  }

  takeOver(changes: SizeChange[]): void {
    this.#changes = changes;
  }

  /** False where there are too many to be repeated. */
  add(size: TerminalSize, offset: number): boolean {
    const unsent = this.#changes.length - this.#sent;
    const isReplaced = unsent > 0 && (this.#changes.at(-1)!.offset === offset || unsent >= sizesMax);
    if (isReplaced) this.#changes.pop();
    this.#changes.push({ ...size, offset });
    return this.#changes.length <= sizesMax;
  }

  get next(): SizeChange | undefined {
    return this.#changes[this.#sent];
  }

  /** The next one has been sent. */
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

  /** A fresh emulator will not need those that were sent. */
  forgetSent(): void {
    this.first = this.current;
    this.#changes.splice(0, this.#sent);
    this.#sent = 0;
  }

  /** A fresh emulator begins with the last one. */
  forgetAll(): void {
    const { cols, rows } = this.#changes.at(-1) ?? this.first;
    this.#changes = [];
    this.#sent = 0;
    this.first = this.current = { cols, rows };
  }
}
