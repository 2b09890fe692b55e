// Calls back when a descriptor is readable, and does not read it. Bun's own readers read a descriptor until it is empty,
// which a program that writes quickly prolongs without bound; the daemon serves no client meanwhile.
//
// The watched descriptors are in an epoll set of trl's own, and that set is in Bun's event loop. Bun offers no way to add
// a descriptor that it does not read, so a socket of a pair represents the set: one byte always waits in it, Bun's
// interest in the socket itself is cleared, and the set is registered with the socket's data. Bun takes an event of the
// set for one of the socket, reads the byte and calls `data`.
import { closeFd, writeWhole } from "../libc.ts";
import type { OnReadable } from "../readiness.ts";
import { controlEpoll, createEpoll, EPOLLHUP, EPOLLIN, nextEvent, registrationOf } from "./epoll.ts";
import { createSocketPair } from "./libc.ts";

const wakeByte = new Uint8Array(1);

/** How long callbacks run in one turn of the event loop, beyond the one that is running. */
const turnMs = 1;

class ReadinessSet {
  readonly #callbacks = new Map<number, OnReadable>();

  constructor(
    readonly epollFd: number,
    readonly wakeFd: number,
  ) {}

  add(fd: number, onReadable: OnReadable): boolean {
    if (!this.#callbacks.has(fd) && !this.#control("add", fd)) return false;
    this.#callbacks.set(fd, onReadable);
    return true;
  }

  remove(fd: number): void {
    if (this.#callbacks.delete(fd)) this.#control("delete", fd);
  }

  #control(operation: "add" | "delete", fd: number): boolean {
    return controlEpoll({ epollFd: this.epollFd, events: EPOLLIN, data: BigInt(fd) }, operation, fd);
  }

  serve(): void {
    try {
      this.#serveForOneTurn();
    } finally {
      // Without a byte in the socket Bun would not call again. Written last: the echo of a keystroke does not wait for it.
      if (!writeWhole(this.wakeFd, wakeByte)) setTimeout(() => this.serve(), 1);
    }
  }

  /**
   * Serves readable descriptors one after the other, for a bounded time. The kernel moves each reported one to the end
   * of its list, so the rest come first in the next turn of the event loop.
   */
  #serveForOneTurn(): void {
    const deadline = performance.now() + turnMs;
    do {
      const event = nextEvent(this.epollFd);
      if (!event) return;
      try {
        this.#callbacks.get(event.data)?.((event.events & EPOLLHUP) !== 0);
      } catch (error) {
        queueMicrotask(() => {
          throw error; // a failing callback must not stop the others, nor close the socket
        });
      }
    } while (performance.now() < deadline);
  }
}

let readiness: ReadinessSet | undefined;
let isUnsupported = false;

export function watchReadable(fd: number, onReadable: OnReadable): boolean {
  prepareReadiness();
  return readiness?.add(fd, onReadable) ?? false;
}

export const unwatchReadable = (fd: number): void => readiness?.remove(fd);

export function prepareReadiness(): void {
  if (!isUnsupported) readiness ??= createReadinessSet();
}

function createReadinessSet(): ReadinessSet | undefined {
  const epollFd = createEpoll();
  if (epollFd === undefined) return undefined;
  const pair = createSocketPair();
  if (!pair) {
    closeFd(epollFd);
    return undefined;
  }
  const [socketFd, wakeFd] = pair;
  const set = new ReadinessSet(epollFd, wakeFd);
  const socket = { data: () => set.serve(), open: (opened: Bun.Socket) => opened.unref() };
  const options: Bun.FdSocketOptions = { fd: socketFd, socket };
  // Bun's types do not have the descriptor. The socket stays open until the process ends.
  const connected = Bun.connect(options as unknown as Bun.UnixSocketOptions);
  const registration = registrationOf(socketFd);
  const isRegistered =
    registration !== undefined &&
    controlEpoll({ ...registration, events: 0 }, "modify", socketFd) &&
    controlEpoll({ ...registration, events: EPOLLIN }, "add", epollFd);
  if (isRegistered && writeWhole(wakeFd, wakeByte)) return set;
  isUnsupported = true;
  connected.then((opened) => opened.terminate()).catch(() => {});
  closeFd(wakeFd);
  closeFd(epollFd);
  return undefined;
}
