// A browser cannot send a header with a WebSocket, and a token has no place in an address: it asks for a ticket, which
// is good for one connection within a short time.
import { randomHex } from "../../../util/random.ts";

export const ticketSeconds = 30;
const ticketsMax = 1000;

export class Tickets {
  readonly #expiry = new Map<string, number>();

  constructor(
    readonly clock = () => performance.now(),
    before: Record<string, number> = {},
  ) {
    for (const [ticket, leftMs] of Object.entries(before)) this.#expiry.set(ticket, this.clock() + leftMs);
  }

  /** How many ms each is still good for. */
  pack(): Record<string, number> {
    const now = this.clock();
    return Object.fromEntries([...this.#expiry].map(([ticket, until]) => [ticket, until - now]));
  }

  issue(): string {
    const now = this.clock();
    for (const [ticket, until] of this.#expiry) {
      if (until > now && this.#expiry.size < ticketsMax) break; // the rest is younger
      this.#expiry.delete(ticket);
    }
    const ticket = randomHex(32);
    this.#expiry.set(ticket, now + ticketSeconds * 1000);
    return ticket;
  }

  /** Once. It is looked up by its hash table, not compared character by character. */
  redeem(ticket: string): boolean {
    const until = this.#expiry.get(ticket);
    this.#expiry.delete(ticket);
    return until !== undefined && until > this.clock();
  }
}
