// Pseudo-terminals beyond what Bun offers: stops and continues a program's output, finds descriptors of a terminal and
// reads its state. Neither driver can stop reading, and a program that prints without end would starve other clients.
import * as linux from "./linux/terminal.ts";

export interface OutputValve {
  close(): void;
  open(): void;
  /** Lets the output flow and closes the valve's descriptor. */
  dispose(): void;
}

const isLinux = process.platform === "linux";

/** Undefined if the process has no terminal, and outside of Linux. */
export const valveOf = (pid: number): OutputValve | undefined => (isLinux ? linux.valveOf(pid) : undefined);

/** A descriptor of the terminal's master for the caller to close. Undefined if there is none, and outside of Linux. */
export const duplicateMaster = (pid: number): number | undefined =>
  isLinux ? linux.duplicateMaster(pid) : undefined;

/** The program's side of the terminal of a master, for the caller to close. Undefined before Linux 4.13 and on other systems. */
export const openSlave = (masterFd: number): number | undefined =>
  isLinux ? linux.openSlave(masterFd) : undefined;

/** Sets the size through the master. Does nothing outside of Linux, where the driver resizes. */
export function setSize(masterFd: number, size: { cols: number; rows: number }): void {
  if (isLinux) linux.setSize(masterFd, size);
}

/** Bytes of input that the program has not read yet; 0 outside of Linux. */
export const unreadInput = (pid: number): number => (isLinux ? linux.unreadInput(pid) : 0);

/** Whether a read of the master returns output now; false outside of Linux. */
export const hasOutput = (masterFd: number): boolean => isLinux && linux.hasOutput(masterFd);
