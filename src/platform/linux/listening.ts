// The descriptor behind a door, on Linux. Bun can take a listening descriptor for a plain socket, but not for HTTP: there
// it is put in the place of one that Bun has made itself. And while a daemon is handed over, or has no descriptors
// left, clients wait in the system's queue: Bun is not told that they have come.
import { FFIType } from "bun:ffi";
import { fstatSync, readdirSync } from "node:fs";
import { openLibrary } from "../c-library.ts";
import { controlEpoll, type Registration, registrationOf } from "./epoll.ts";

const { i32 } = FFIType;
const open = () => openLibrary({ dup3: { args: [i32, i32, i32], returns: i32 } });
let library: ReturnType<typeof open> | undefined;
const libc = () => {
  library ??= open();
  return library;
};

const O_CLOEXEC = 0o2000000;

export class ListeningSocket {
  #watch: Registration | undefined;
  /** Those who have asked for it do not know of each other: a handover, and a lack of descriptors. */
  #pauses = 0;

  constructor(readonly fd: number) {
    this.#watch = registrationOf(fd);
  }

  /** Clients wait, and nobody is refused. */
  pause(): void {
    if (this.#pauses++ === 0 && this.#watch) control(this.#watch, "delete", this.fd);
  }

  /** Once for each pause. */
  resume(): void {
    if (--this.#pauses === 0 && this.#watch) control(this.#watch, "add", this.fd);
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

function control(watch: Registration, operation: "add" | "delete", fd: number): void {
  if (!controlEpoll(watch, operation, fd))
    throw new Error("the listening socket cannot be stopped or let go on");
}
