// What all clients of a storm share: the daemon, the books, and what they have made that others may meddle with.
import type { ErrorCode } from "../../src/protocol/errors.ts";
import type { HttpDaemon } from "../support/http.ts";
import type { Random } from "../support/random.ts";
import type { Books } from "./books.ts";

/** Of all storms: the daemon remembers what has ended. */
let commands = 0;
let terminals = 0;

export class World {
  /** Somebody has asked for their end: whoever uses them may find them gone at any moment. */
  readonly doomed = new Set<string>();
  readonly sessions = new Pool();
  readonly terminals = new Pool();
  readonly streams = new Pool();
  /** Clients finish what they do, and begin nothing new. */
  isOver = false;

  constructor(
    readonly daemon: HttpDaemon,
    readonly books: Books,
    readonly canIsolate: boolean,
  ) {}

  newCommandId(): string {
    return `x-${(++commands).toString(16).padStart(16, "0")}`;
  }

  newTerminalId(): string {
    return `chaos-${++terminals}`;
  }

  /** Whether what is told of a session may be that it has been ended. */
  mayHaveEnded(id: string): boolean {
    return this.doomed.has(id) || this.books.isEnding;
  }
}

/** The last ones that were made. */
class Pool {
  readonly #ids: string[] = [];

  add(id: string): void {
    this.#ids.push(id);
    if (this.#ids.length > poolMax) this.#ids.shift();
  }

  /** `part` is from 0 up to 1. */
  at(part: number): string | undefined {
    return this.#ids[Math.floor(part * this.#ids.length)];
  }
}

const poolMax = 24;

/**
 * Something that a client does. What it does is drawn before it is begun, and from nothing but its own source: so the
 * seed, the client's name and the number of the step say all of it.
 */
export interface Step<D = unknown, C = unknown> {
  name: string;
  weight: number;
  draw(random: Random): D;
  act(client: C, drawn: D): Promise<void>;
}

/** Keeps what is drawn and what is done together; which type that is, is nobody else's business. */
export const step = <D, C>(given: Step<D, C>): Step<unknown, C> => given as Step<unknown, C>;

/** What may be refused to anybody at any time, because others have taken the last of it. */
export const scarce: readonly ErrorCode[] = ["MAX_SESSIONS_REACHED", "RESOURCE_PRESSURE"];
