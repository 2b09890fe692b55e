// The listening socket of the HTTP transport. Bun accepts connections without a callback, and retries in a busy loop when
// no descriptor is left. So accepting pauses while descriptors are low, and new clients wait in the kernel's backlog. The
// port stays bound meanwhile: otherwise another user could bind it and receive tokens. Only on macOS, where the
// socket cannot be paused, the port is closed.
import { commandDescriptors } from "../../../core/limits.ts";
import type { Log } from "../../../core/log.ts";
import { descriptorsLeft } from "../../../core/resources.ts";
import type { ListeningSocket } from "../../../platform/listening.ts";
import { listening } from "../../../platform/listening.ts";
import { descriptorCheckMs } from "../../limits.ts";

type Server<T> = Bun.Server<T>;

/** Hysteresis, so that one connection more or less does not pause and resume accepting. */
const hysteresisDescriptors = 4;

export class HttpSocket<T> {
  readonly url: string;
  readonly port: number;
  #listening: Server<T> | undefined;
  #socket: ListeningSocket | undefined;
  #isPaused = false;
  /** Servers that do not listen any more, but still have requests or WebSockets. */
  readonly #stopped = new Set<Server<T>>();
  readonly #checkTimer: Timer;

  constructor(
    port: number,
    readonly listen: (port: number) => Server<T>,
    readonly log: Log,
    /** The socket that an upgrade has passed on; accepting may have been paused. */
    before?: { url: string; port: number; fd?: number | undefined },
  ) {
    const server = this.#listen(before?.fd === undefined ? (before?.port ?? port) : 0);
    if (before?.fd !== undefined) this.#socket?.replaceWith(before.fd);
    this.url = before?.url ?? server.url.origin;
    this.port = before?.port ?? server.port!;
    this.#checkTimer = setInterval(() => this.#checkDescriptors(), descriptorCheckMs);
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

  /** Closes all connections, too. */
  async close(): Promise<void> {
    clearInterval(this.#checkTimer);
    await Promise.all(this.#servers.map((server) => server.stop(true)));
  }

  get #servers(): Server<T>[] {
    return [...this.#stopped, ...(this.#listening ? [this.#listening] : [])];
  }

  #checkDescriptors(): void {
    const left = descriptorsLeft();
    if (!this.#isPaused && left < commandDescriptors) this.#pause();
    else if (this.#isPaused && left >= commandDescriptors + hysteresisDescriptors) this.#resume();
  }

  #pause(): void {
    this.log.warn("file descriptors are running low: not accepting HTTP connections");
    this.#isPaused = true;
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
      this.#isPaused = false;
      this.log.info("accepting HTTP connections again");
    } catch {
      // Another process has bound the port; the next check retries.
    }
  }
}
