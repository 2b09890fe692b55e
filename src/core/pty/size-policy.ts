// Who decides the size where several clients watch one terminal: the last one that typed. Observers never do, a size
// that is the same already is no change, and when all have left the last size stays.
import type { TerminalSize } from "./driver.ts";

/** Somebody at the other end of a connection. */
export interface Typist {
  readonly isClosed: boolean;
}

export class SizePolicy {
  #wanted = new WeakMap<Typist, TerminalSize>();
  #lastTypist: WeakRef<Typist> | undefined;

  /** Whether the size that the client wants holds from now on. */
  wants(client: Typist, size: TerminalSize): boolean {
    this.#wanted.set(client, size);
    const decides = this.#lastTypist?.deref();
    return !decides || decides.isClosed || decides === client;
  }

  /** The size that the one who types has asked for, if it has. */
  typed(client: Typist): TerminalSize | undefined {
    if (this.#lastTypist?.deref() === client) return undefined;
    this.#lastTypist = new WeakRef(client);
    return this.#wanted.get(client);
  }
}
