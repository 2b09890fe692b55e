// The descriptor behind a listener, on systems where another program can inherit it.
import { findListeningSocket } from "./linux/listening.ts";

export interface ListeningSocket {
  readonly fd: number;
  /** Clients wait in the kernel's queue, and none is refused. Pauses nest: each needs its own `resume`. */
  pause(): void;
  resume(): void;
  /** Puts another listening socket under this descriptor number. */
  replaceWith(fd: number): void;
}

/** Runs `listen` and finds the socket that it opens, or was given. Undefined outside of Linux. */
export function listening<T>(
  listen: () => T,
  given?: number,
): { made: T; socket: ListeningSocket | undefined } {
  if (process.platform === "linux") return findListeningSocket(listen, given);
  return { made: listen(), socket: undefined };
}
