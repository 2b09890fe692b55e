// Decides the size of a terminal with several clients: the client that typed last does. Clients that never typed do not,
// and when all clients have disconnected the last size stays.
import { TrlError } from "../../protocol/errors.ts";
import { cellsMax } from "../../protocol/pty.ts";
import type { TerminalSize } from "./drivers/driver.ts";

/** The identity of a client, i.e. its connection. */
export interface InputClient {
  readonly isClosed: boolean;
}

export function requireSize({ cols, rows }: TerminalSize): void {
  if (cols * rows <= cellsMax) return;
  throw new TrlError("INVALID_PARAMS", `cols, rows: expected at most ${cellsMax} cells`);
}

export class SizePolicy {
  #requested = new WeakMap<InputClient, TerminalSize>();
  /** In the order of their last input. */
  #clients: WeakRef<InputClient>[] = [];

  /** Records the size that a client requests. True if it takes effect now. */
  wants(client: InputClient, size: TerminalSize): boolean {
    this.#requested.set(client, size);
    const lastTyping = this.#lastTyping();
    return !lastTyping || lastTyping === client;
  }

  /** The client decides from now on. Returns the size that it has requested, if any. */
  typed(client: InputClient): TerminalSize | undefined {
    if (this.#lastTyping() !== client) {
      const others = this.#clients.filter((known) => {
        const other = known.deref();
        return other && other !== client && !other.isClosed; // connections of a single request accumulate otherwise
      });
      this.#clients = [...others, new WeakRef(client)];
    }
    return this.#requested.get(client);
  }

  /** The client that typed last, of those still connected. */
  #lastTyping(): InputClient | undefined {
    for (let last = this.#clients.at(-1); last; last = this.#clients.at(-1)) {
      const client = last.deref();
      if (client && !client.isClosed) return client;
      this.#clients.pop();
    }
    return undefined;
  }
}
