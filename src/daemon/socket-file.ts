// Inspects the socket file: whether a daemon listens on it, and whether it is stale and may be removed.
import { lstatSync, mkdirSync, unlinkSync } from "node:fs";
import { withPrivateUmask } from "../util/private-files.ts";
import { OptionError } from "./option-error.ts";

export type SocketFile = "free" | "in-use" | "stale" | "not-ours";

export async function inspectSocketFile(path: string): Promise<SocketFile> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return "free";
  if (!stat.isSocket()) return "not-ours";
  if (await answers(path)) return "in-use";
  return stat.uid === process.getuid?.() ? "stale" : "not-ours";
}

/** A child that a killed daemon had just forked holds the listening socket until it execs. */
const forkedMaxMs = 500;

/** As `inspectSocketFile`, but retries while the socket is in use and the holder of the lock is dead. */
export async function inspectSettled(path: string, isHolderDead: () => boolean): Promise<SocketFile> {
  const deadline = performance.now() + forkedMaxMs;
  for (;;) {
    const file = await inspectSocketFile(path);
    if (file !== "in-use" || !isHolderDead() || performance.now() > deadline) return file;
    await Bun.sleep(5);
  }
}

export function removeStale(path: string): void {
  unlinkSync(path);
}

export function makeSocketDir(dir: string): void {
  try {
    withPrivateUmask(() => mkdirSync(dir, { recursive: true }));
  } catch (error) {
    throw new OptionError(`--socket-dir: ${(error as Error).message}`);
  }
}

async function answers(path: string): Promise<boolean> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data() {} } });
    socket.terminate();
    return true;
  } catch (error) {
    // Only ECONNREFUSED shows that no process listens; after any other error one may.
    return (error as NodeJS.ErrnoException).code !== "ECONNREFUSED";
  }
}
