// A program that asks its terminal something reads the answer from its input. A client that has seen the question may
// type before the answer is made: its input waits for it, as it would at a real terminal.
import { answerTimeoutMs } from "../limits.ts";

export class InputOrder {
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #timer: Timer | undefined;

  constructor(
    readonly isAnswering: () => boolean,
    readonly write: (bytes: Uint8Array) => void,
  ) {}

  get heldBytes(): number {
    return this.#heldBytes;
  }

  typed(bytes: Uint8Array): void {
    if (this.#held.length === 0 && !this.isAnswering()) {
      this.write(bytes);
      return;
    }
    this.#held.push(bytes.slice());
    this.#heldBytes += bytes.length;
    this.#timer ??= setTimeout(() => this.flush(), answerTimeoutMs);
  }

  /** An answer has been written, or none will be. */
  answered(): void {
    if (this.#held.length > 0 && !this.isAnswering()) this.flush();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#heldBytes = 0;
    for (const bytes of this.#held.splice(0)) this.write(bytes);
  }
}
