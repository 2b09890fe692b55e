// Stops and continues a program's output, out of the user's sight, or reads it in the driver's place. Neither driver can
// stop reading by itself, and a program that prints without end would keep everybody else waiting.
import type { PtySpec, TerminalSize } from "../core/terminal/drivers/driver.ts";
import { MasterReader } from "../core/terminal/drivers/master-reader-linux.ts";
import * as linux from "./linux/terminal.ts";

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

/** Reads a terminal's output by a descriptor of its master. Undefined where the system has no such thing. */
export function readMaster(fd: number, onOutput: PtySpec["onOutput"]): MasterReader | undefined {
  return isLinux ? MasterReader.start(fd, onOutput) : undefined;
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
