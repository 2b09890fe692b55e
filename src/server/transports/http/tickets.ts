// Tickets for WebSockets. A browser cannot send headers with a WebSocket, and a token must not be part of a URL: the
// client requests a ticket, which is valid for one connection within a short time.
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

  /** The ms until each ticket expires. */
  pack(): Record<string, number> {
    const now = this.clock();
    return Object.fromEntries([...this.#expiry].map(([ticket, until]) => [ticket, until - now]));
  }

  issue(): string {
    const now = this.clock();
    for (const [ticket, until] of this.#expiry) {
      if (until > now && this.#expiry.size < ticketsMax) break; // later ones expire later
      this.#expiry.delete(ticket);
    }
    const ticket = randomHex(32);
    this.#expiry.set(ticket, now + ticketSeconds * 1000);
    return ticket;
  }

  /** Valid once. A hash lookup leaks no timing, unlike a comparison by characters. */
  redeem(ticket: string): boolean {
    const until = this.#expiry.get(ticket);
    this.#expiry.delete(ticket);
    return until !== undefined && until > this.clock();
  }
}
