// Who decides the size where several clients watch one terminal: the last one that typed. Observers never do, a size
// that is the same already is no change, and when all have left the last size stays.
import { TrlError } from "../../protocol/errors.ts";
import { cellsMax } from "../../protocol/pty.ts";
import type { TerminalSize } from "./drivers/driver.ts";

/** Somebody at the other end of a connection. */
export interface Typist {
  readonly isClosed: boolean;
}

export function requireSize({ cols, rows }: TerminalSize): void {
  if (cols * rows <= cellsMax) return;
  throw new TrlError("INVALID_PARAMS", `cols, rows: expected at most ${cellsMax} cells`);
}

export class SizePolicy {
  #wanted = new WeakMap<Typist, TerminalSize>();
  /** The last one at the end. */
  #typists: WeakRef<Typist>[] = [];

  /** Whether the size that the client wants holds from now on. */
  wants(client: Typist, size: TerminalSize): boolean {
    this.#wanted.set(client, size);
    const decides = this.#whoDecides();
    return !decides || decides === client;
  }

  /** The size that the one who types has asked for, if it has. */
  typed(client: Typist): TerminalSize | undefined {
    if (this.#whoDecides() !== client) {
      const others = this.#typists.filter((known) => {
        const typist = known.deref();
        return typist && typist !== client && !typist.isClosed; // clients that come for one request are many
      });
      this.#typists = [...others, new WeakRef(client)];
    }
    return this.#wanted.get(client);
  }

  /** The last of those who are still there. */
  #whoDecides(): Typist | undefined {
    for (let last = this.#typists.at(-1); last; last = this.#typists.at(-1)) {
      const typist = last.deref();
      if (typist && !typist.isClosed) return typist;
      this.#typists.pop();
    }
    return undefined;
  }
}
