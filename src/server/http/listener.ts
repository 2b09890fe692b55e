// The listening side of the HTTP door. Bun accepts connections by itself and tells of none; where no descriptor is left
// for the next one, it tries for ever and keeps a processor busy. So it stops listening before, until there is room.
import { commandDescriptors } from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import { descriptorsLeft } from "../../core/resources.ts";
import { roomCheckMs } from "../limits.ts";

type Server<T> = Bun.Server<T>;

/** So that one connection more or less does not close and open it. */
const slack = 4;

export class Listener<T> {
  readonly url: string;
  readonly #port: number;
  #listening: Server<T> | undefined;
  /** Those that have stopped listening, with the requests and WebSockets that they still have. */
  readonly #stopped = new Set<Server<T>>();
  readonly #check: Timer;

  constructor(
    port: number,
    readonly listen: (port: number) => Server<T>,
    readonly log: Log,
  ) {
    this.#listening = listen(port);
    this.url = this.#listening.url.origin;
    this.#port = this.#listening.port!;
    this.#check = setInterval(() => this.#look(), roomCheckMs);
  }

  get pendingRequests(): number {
    return this.#servers.reduce((sum, { pendingRequests }) => sum + pendingRequests, 0);
  }

  /** With all connections. */
  async close(): Promise<void> {
    clearInterval(this.#check);
    await Promise.all(this.#servers.map((server) => server.stop(true)));
  }

  get #servers(): Server<T>[] {
    return [...this.#stopped, ...(this.#listening ? [this.#listening] : [])];
  }

  #look(): void {
    const left = descriptorsLeft();
    if (this.#listening && left < commandDescriptors) this.#pause(this.#listening);
    else if (!this.#listening && left >= commandDescriptors + slack) this.#resume();
  }

  #pause(server: Server<T>): void {
    this.log.warn("file descriptors are running low: no more connections by HTTP for now");
    this.#listening = undefined;
    this.#stopped.add(server);
    void server.stop(false).then(() => this.#stopped.delete(server));
  }

  #resume(): void {
    try {
      this.#listening = this.listen(this.#port);
      this.log.info("connections by HTTP are taken again");
    } catch {
      // Somebody has the port; perhaps not for long.
    }
  }
}
