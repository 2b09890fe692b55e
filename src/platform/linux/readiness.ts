// Calls back when a descriptor can be read, and reads nothing itself. Bun's own readers read a descriptor until it is
// empty, which a program that writes quickly can put off for as long as it likes; no other client is served meanwhile.
//
// The watched descriptors are in an epoll set of ours, and that set is in Bun's event loop. Bun offers no way to add a
// descriptor that it does not read, so a socket of a pair stands in for the set: one byte always waits in it, Bun's
// interest in the socket itself is cleared, and the set is registered with the socket's data. Bun takes an event of the
// set for one of the socket, reads the byte and calls `data`.
import { readTurnMs } from "../../core/limits.ts";
import { closeFd, createSocketPair, writeWhole } from "../libc.ts";
import { controlEpoll, createEpoll, EPOLLHUP, EPOLLIN, nextEvent, registrationOf } from "./epoll.ts";

const wakeByte = new Uint8Array(1);

/** `isHungUp`: no process has the other side open; what it wrote before can still be read. */
export type OnReadable = (isHungUp: boolean) => void;

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

  /**
   * Serves the descriptors that can be read, one after the other, for a bounded time. The kernel moves each reported one
   * to the end of its list, so those that are left over come first in the next turn of the event loop.
   */
  serve(): void {
    // Without a byte Bun would not call again.
    if (!writeWhole(this.wakeFd, wakeByte)) setTimeout(() => this.serve(), 1);
    const deadline = performance.now() + readTurnMs;
    do {
      const event = nextEvent(this.epollFd);
      if (!event) return;
      try {
        this.#callbacks.get(event.data)?.((event.events & EPOLLHUP) !== 0);
      } catch (error) {
        queueMicrotask(() => {
          throw error; // an exception of one callback must not stop the others, nor close the socket
        });
      }
    } while (performance.now() < deadline);
  }
}

let readiness: ReadinessSet | undefined;
let isImpossible = false;

/** Calls back in each turn in which the descriptor can be read, until `unwatchReadable`. False where that cannot be had. */
export function watchReadable(fd: number, onReadable: OnReadable): boolean {
  prepareReadiness();
  return readiness?.add(fd, onReadable) ?? false;
}

/** To be called before the descriptor is closed. */
export const unwatchReadable = (fd: number): void => readiness?.remove(fd);

/** What all watched descriptors share; a daemon makes it at its start, as descriptors may run out later. */
export function prepareReadiness(): void {
  if (!isImpossible) readiness ??= createReadinessSet();
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
  // Bun's types do not know that it takes a descriptor here. The socket stays open for as long as the process lives.
  const connected = Bun.connect(options as unknown as Bun.UnixSocketOptions);
  const registration = registrationOf(socketFd);
  const isRegistered =
    registration !== undefined &&
    controlEpoll({ ...registration, events: 0 }, "modify", socketFd) &&
    controlEpoll({ ...registration, events: EPOLLIN }, "add", epollFd);
  if (isRegistered && writeWhole(wakeFd, wakeByte)) return set;
  isImpossible = true;
  connected.then((opened) => opened.terminate()).catch(() => {});
  closeFd(wakeFd);
  closeFd(epollFd);
  return undefined;
}
