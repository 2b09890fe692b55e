// Children of this process beyond those that Bun waits for: orphans that it adopts, and how it learns of their end.
import * as linux from "./linux/libc.ts";
import { readGate } from "./read-gate.ts";

const isLinux = process.platform === "linux";

/** Orphaned descendants become children of this process instead of init's. False outside of Linux. */
export const becomeSubreaper = (): boolean => isLinux && linux.becomeSubreaper();

/** The kernel kills this process when its parent ends. Does nothing outside of Linux. */
export function dieWithParent(): void {
  if (isLinux) linux.dieWithParent();
}

/** Any child that has ended and is not reaped yet; it stays so. Undefined outside of Linux. */
export const endedChild = (): number | undefined => (isLinux ? linux.endedChild() : undefined);

/** Whether the child has ended and is not reaped yet; it stays so. False outside of Linux. */
export const hasChildEnded = (pid: number): boolean => isLinux && linux.hasChildEnded(pid);

/** Batches signals that come together. Bun has reaped its own children by then. */
const batchMs = 10;
/** With thousands of children the callback takes long: the pause before the next one is this many times as long. */
const pauseFactor = 10;

/** Calls back soon after some child has ended. Bun reaps the children of `Bun.spawn` itself. */
export function onChildrenEnded(callback: () => void | Promise<void>): void {
  let isScheduled = false;
  let pauseMs = batchMs;
  const run = async () => {
    isScheduled = false;
    if (readGate.whenOpen) return;
    const began = performance.now();
    await callback();
    pauseMs = Math.max(batchMs, (performance.now() - began) * pauseFactor);
  };
  process.on("SIGCHLD", () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(run, pauseMs);
  });
}
