// The descriptor behind a door, on Linux. Bun can take a listening descriptor for a plain socket, but not for HTTP: there
// it is put in the place of one that Bun has made itself. And while a daemon is handed over, or has no descriptors
// left, clients wait in the system's queue: Bun is not told that they have come.
import { FFIType, ptr } from "bun:ffi";
import { fstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { openLibrary } from "./c-library.ts";

const { i32, pointer } = FFIType;
const open = () =>
  openLibrary({
    dup3: { args: [i32, i32, i32], returns: i32 },
    epoll_ctl: { args: [i32, i32, i32, pointer], returns: i32 },
  });
let library: ReturnType<typeof open> | undefined;
const libc = () => {
  library ??= open();
  return library;
};

const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const O_CLOEXEC = 0o2000000;
/** struct epoll_event is packed on x86 only. */
const dataOffset = process.arch === "x64" ? 4 : 8;

/** How an event loop watches a descriptor. */
interface Watch {
  epollFd: number;
  events: number;
  data: bigint;
}

export class ListeningSocket {
  #watch: Watch | undefined;
  /** Those who have asked for it do not know of each other: a handover, and a lack of descriptors. */
  #pauses = 0;

  constructor(readonly fd: number) {
    this.#watch = watchOf(fd);
  }

  /** Clients wait, and nobody is refused. */
  pause(): void {
    if (this.#pauses++ === 0 && this.#watch) control(this.#watch, EPOLL_CTL_DEL, this.fd);
  }

  /** Once for each pause. */
  resume(): void {
    if (--this.#pauses === 0 && this.#watch) control(this.#watch, EPOLL_CTL_ADD, this.fd);
  }

  /** From now on it is the other one, under its own number. */
  becomes(other: number): void {
    const watch = this.#watch;
    if (!watch) throw new Error("the listening socket is not watched");
    this.pause();
    if (libc().dup3(other, this.fd, O_CLOEXEC) < 0)
      throw new Error("the listening socket cannot be taken over");
    this.resume();
  }
}

/** What `make` opens to listen on, or was given for that. */
export function listening<T>(make: () => T, given?: number): { made: T; socket: ListeningSocket } {
  if (given !== undefined) return { made: make(), socket: new ListeningSocket(given) };
  const before = socketsOpen();
  const made = make();
  const [fd] = [...socketsOpen()].filter((it) => !before.has(it));
  if (fd === undefined) throw new Error("the listening socket cannot be found");
  return { made, socket: new ListeningSocket(fd) };
}

function socketsOpen(): Set<number> {
  const isSocket = (fd: number) => {
    try {
      return fstatSync(fd).isSocket();
    } catch {
      return false; // the look itself had it open
    }
  };
  return new Set(readdirSync("/proc/self/fd").map(Number).filter(isSocket));
}

function watchOf(fd: number): Watch | undefined {
  for (const epollFd of readdirSync("/proc/self/fd").map(Number).filter(isEpoll)) {
    for (const line of readFileSync(`/proc/self/fdinfo/${epollFd}`, "latin1").split("\n")) {
      const [, target, events, data] = /^tfd:\s*(\d+)\s+events:\s*(\w+)\s+data:\s*(\w+)/.exec(line) ?? [];
      if (Number(target) === fd)
        return { epollFd, events: Number.parseInt(events!, 16), data: BigInt(`0x${data}`) };
    }
  }
  return undefined;
}

function isEpoll(fd: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === "anon_inode:[eventpoll]";
  } catch {
    return false;
  }
}

function control({ epollFd, events, data }: Watch, operation: number, fd: number): void {
  const event = Buffer.alloc(16);
  event.writeUInt32LE(events, 0);
  event.writeBigUInt64LE(data, dataOffset);
  if (libc().epoll_ctl(epollFd, operation, fd, ptr(event)) !== 0)
    throw new Error("the listening socket cannot be stopped or let go on");
}
