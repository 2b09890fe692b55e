// Writes to a pipe without ever blocking the daemon, and without minding a reader that goes away.
import { closeSync, writeSync } from "node:fs";
import { pipeSyncWriteMaxBytes } from "../limits.ts";

/** Writes all of it and closes the pipe, at once where it fits in one page. */
export function writeAndClose(fd: number, bytes: Uint8Array): void {
  if (bytes.length > pipeSyncWriteMaxBytes) {
    void writeSlowly(fd, bytes);
    return;
  }
  try {
    if (bytes.length > 0) writeSync(fd, bytes);
  } catch {
    // The reader has gone: it did not want the rest, which is no error.
  }
  closeSync(fd);
}

async function writeSlowly(fd: number, bytes: Uint8Array): Promise<void> {
  const sink = Bun.file(fd).writer();
  try {
    await sink.write(bytes);
    await sink.end();
  } catch {
    // As above.
  } finally {
    closeSync(fd);
  }
}
