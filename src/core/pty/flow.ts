// Stops and continues a program's output, out of the user's sight, or reads it in the driver's place. Neither driver can
// stop reading by itself, and a program that prints without end would keep everybody else waiting.
import type { Patience } from "../process/short-wait.ts";
import type { TerminalSize } from "./driver.ts";
import * as linux from "./flow-linux.ts";
import * as reading from "./own-reading-linux.ts";

export interface OutputValve {
  close(): void;
  open(): void;
  /** Gives its descriptor back; the output flows. */
  dispose(): void;
}

const isLinux = process.platform === "linux";

/** Undefined where the system has no such thing, or the process has no terminal (any more). */
export function valveOf(pid: number): OutputValve | undefined {
  return isLinux ? linux.valveOf(pid) : undefined;
}

/** False where the process has none (any more), or it cannot be known at the moment. */
export function hasTerminal(pid: number): boolean {
  return !isLinux || linux.terminalNumberOf(pid) !== undefined;
}

/** To read the output oneself. Undefined where the system has no such thing, or the driver has a thread that reads. */
export function ownReadingOf(pid: number): reading.OwnReading | undefined {
  return isLinux ? reading.ownReadingOf(pid) : undefined;
}

/** For writing to the terminal at once; to be closed by the caller. Undefined where it cannot be had. */
export function duplicateMaster(pid: number): number | undefined {
  return isLinux ? linux.duplicateMaster(pid) : undefined;
}

/** By its master; where that is not Linux, a terminal's size is the business of whoever made it. */
export function setSize(fd: number, size: TerminalSize): void {
  if (isLinux) linux.setSize(fd, size);
}

/** Bytes of input that the terminal holds and the program has not read; 0 where that cannot be known. */
export function unreadInput(pid: number): number {
  return isLinux ? linux.unreadInput(pid) : 0;
}

/** What is printed next, if it comes within that time, on Linux; 0 bytes elsewhere. */
export function awaitOutput(masterFd: number, memory: Uint8Array, patience: Patience): number {
  return isLinux ? linux.awaitOutput(masterFd, memory, patience) : 0;
}
