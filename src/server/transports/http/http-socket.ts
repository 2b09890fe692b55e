// The listening side of the HTTP door. Bun accepts connections by itself and tells of none; where no descriptor is left
// for the next one, it tries for ever and keeps a processor busy. So it stops before, until there is room: who comes then
// waits. The port stays ours all the time, or another user could take it and be shown our clients' tokens. Only where the
// system does not let us do that (macOS), it is closed meanwhile.
import { commandDescriptors } from "../../../core/limits.ts";
import type { Log } from "../../../core/log.ts";
import { descriptorsLeft } from "../../../core/resources.ts";
import type { ListeningSocket } from "../../../platform/linux/listening.ts";
import { listening } from "../../../platform/listening.ts";
import { roomCheckMs } from "../../limits.ts";

type Server<T> = Bun.Server<T>;

/** So that one connection more or less does not close and open it. */
const slack = 4;

export class HttpSocket<T> {
  readonly url: string;
  readonly port: number;
  #listening: Server<T> | undefined;
  #socket: ListeningSocket | undefined;
  #hasRoom = true;
  /** Those that have stopped listening, with the requests and WebSockets that they still have. */
  readonly #stopped = new Set<Server<T>>();
  readonly #check: Timer;

  constructor(
    port: number,
    readonly listen: (port: number) => Server<T>,
    readonly log: Log,
    /** Where the program before us has listened already; at that moment it may have had no room for more. */
    before?: { url: string; port: number; fd?: number | undefined },
  ) {
    const server = this.#listen(before?.fd === undefined ? (before?.port ?? port) : 0);
    if (before?.fd !== undefined) this.#socket?.becomes(before.fd);
    this.url = before?.url ?? server.url.origin;
    this.port = before?.port ?? server.port!;
    this.#check = setInterval(() => this.#look(), roomCheckMs);
  }

  get socket(): ListeningSocket | undefined {
    return this.#socket;
  }

  #listen(port: number): Server<T> {
    const { made, socket } = listening(() => this.listen(port));
    this.#socket = socket;
    this.#listening = made;
    return made;
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
    if (this.#hasRoom && left < commandDescriptors) this.#pause();
    else if (!this.#hasRoom && left >= commandDescriptors + slack) this.#resume();
  }

  #pause(): void {
    this.log.warn("file descriptors are running low: no more connections by HTTP for now");
    this.#hasRoom = false;
    if (this.#socket) this.#socket.pause();
    else this.#stop(this.#listening!);
  }

  #stop(server: Server<T>): void {
    this.#listening = undefined;
    this.#stopped.add(server);
    void server.stop(false).then(() => this.#stopped.delete(server));
  }

  #resume(): void {
    try {
      if (this.#socket) this.#socket.resume();
      else this.#listen(this.port);
      this.#hasRoom = true;
      this.log.info("connections by HTTP are taken again");
    } catch {
      // Somebody has the port; perhaps not for long.
    }
  }
}
