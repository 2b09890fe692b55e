// Keeps input in order behind replies to terminal queries. A program reads such a reply from its input; a client that has
// seen the query may type before the screen process has made the reply. Its input is queued until then, as a real
// terminal would order it, or until a timeout.
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

  /** A reply was written, or none will be. */
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
