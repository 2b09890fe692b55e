// The descriptor behind a listener on Linux. Bun adopts a listening descriptor for a plain socket, but not for HTTP: there
// the descriptor replaces one that Bun has opened itself. While paused, the descriptor is removed from Bun's epoll set, so
// clients wait in the kernel's queue: during an upgrade, and while no descriptors are free.
import { FFIType } from "bun:ffi";
import { fstatSync, readdirSync } from "node:fs";
import { openOnDemand } from "../c-library.ts";
import type { ListeningSocket } from "../listening.ts";
import { controlEpoll, type Registration, registrationOf } from "./epoll.ts";

const { i32 } = FFIType;
const libc = openOnDemand({ dup3: { args: [i32, i32, i32], returns: i32 } });

const O_CLOEXEC = 0o2000000;

class LinuxListeningSocket implements ListeningSocket {
  readonly #registration: Registration | undefined;
  /** An upgrade and a lack of descriptors pause independently of each other. */
  #pauses = 0;

  constructor(readonly fd: number) {
    this.#registration = registrationOf(fd);
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#control("delete");
  }

  resume(): void {
    if (--this.#pauses === 0) this.#control("add");
  }

  replaceWith(fd: number): void {
    if (!this.#registration) throw new Error("the event loop does not watch the listening socket");
    this.pause();
    if (libc().dup3(fd, this.fd, O_CLOEXEC) < 0) throw new Error("could not take over the listening socket");
    this.resume();
  }

  #control(operation: "add" | "delete"): void {
    if (this.#registration && !controlEpoll(this.#registration, operation, this.fd))
      throw new Error("could not pause or resume the listening socket");
  }
}

export function findListeningSocket<T>(
  listen: () => T,
  given?: number,
): { made: T; socket: ListeningSocket } {
  if (given !== undefined) return { made: listen(), socket: new LinuxListeningSocket(given) };
  const before = openSockets();
  const made = listen();
  const [fd] = [...openSockets()].filter((it) => !before.has(it));
  if (fd === undefined) throw new Error("could not find the listening socket");
  return { made, socket: new LinuxListeningSocket(fd) };
}

function openSockets(): Set<number> {
  const isSocket = (fd: number) => {
    try {
      return fstatSync(fd).isSocket();
    } catch {
      return false; // the descriptor of the listing itself
    }
  };
  return new Set(readdirSync("/proc/self/fd").map(Number).filter(isSocket));
}
