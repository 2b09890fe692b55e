import { writeSync } from "node:fs";

/** Writes all of it before it returns, so that who reads slowly slows us; false where nobody reads any more. */
export function writeFully(fd: number, bytes: Uint8Array): boolean {
  for (let rest = bytes; rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EAGAIN") return false;
      Bun.sleepSync(1); // somebody has made it non-blocking, and it is full
    }
  }
  return true;
}
