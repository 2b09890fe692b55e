// The terminal of a process on Linux: found by its number in /proc, and opened without becoming the controlling terminal.
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import type { OutputValve } from "../terminal.ts";
import { duplicate, FIONREAD, ioctl, ioctlNumber, ioctlOpen, ioctlWith } from "./libc.ts";

const TCXONC = 0x540a;
const TCOOFF = 0;
const TCOON = 1;
const TIOCGPTN = 0x80045430;
const TIOCSWINSZ = 0x5414;
const TIOCGPTPEER = 0x5441;

/**
 * Works as ^S and ^Q do, in the terminal itself. The kernel occasionally drops a line end if the output stops while a
 * program prints (n_tty checks for space, and ignores that its "\r\n" was not written).
 */
export function valveOf(pid: number): OutputValve | undefined {
  const fd = openTerminalOf(pid);
  if (fd === undefined) return undefined;
  return {
    close: () => void ioctl(fd, TCXONC, TCOOFF),
    open: () => void ioctl(fd, TCXONC, TCOON),
    dispose() {
      ioctl(fd, TCXONC, TCOON);
      closeSync(fd);
    },
  };
}

/** struct winsize: rows, columns, and no pixels. */
export function setSize(masterFd: number, { cols, rows }: { cols: number; rows: number }): void {
  ioctlWith(masterFd, TIOCSWINSZ, new Uint16Array([rows, cols, 0, 0]));
}

export function unreadInput(pid: number): number {
  const fd = openTerminalOf(pid);
  if (fd === undefined) return 0;
  const count = ioctlNumber(fd, FIONREAD);
  closeSync(fd);
  return count ?? 0;
}

/** Unlike `poll`, FIONREAD does not wait for the kernel thread that passes output on. */
export const hasOutput = (masterFd: number): boolean => (ioctlNumber(masterFd, FIONREAD) ?? 0) > 0;

/**
 * Duplicates the master of the process's terminal, which this process has open somewhere: Bun does not expose it. A
 * descriptor that was just opened usually has one of the highest numbers, so the search runs downwards.
 */
export function duplicateMaster(pid: number): number | undefined {
  const number = terminalNumberOf(pid);
  if (number === undefined) return undefined;
  const next = openSync("/dev/null", constants.O_RDONLY);
  closeSync(next);
  const from = next + recentDescriptors;
  for (let fd = from; fd > 2; fd--) if (masterNumber(fd) === number) return duplicate(fd);
  return undefined;
}

const recentDescriptors = 8;

function openTerminalOf(pid: number): number | undefined {
  try {
    const number = terminalNumberOf(pid);
    if (number === undefined) return undefined;
    return openSync(`/dev/pts/${number}`, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    return undefined; // the terminal is closed
  }
}

function terminalNumberOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const device = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4]);
    const major = (device >> 8) & 0xfff;
    const minor = (device & 0xff) | ((device >> 12) & 0xfff00);
    if (major < firstPtsMajor || major > lastPtsMajor) return undefined;
    return (major - firstPtsMajor) * 256 + minor;
  } catch {
    return undefined;
  }
}

export const openSlave = (masterFd: number): number | undefined =>
  ioctlOpen(masterFd, TIOCGPTPEER, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);

/** The number of the terminal; undefined if the descriptor is not a master. */
const masterNumber = (fd: number): number | undefined => ioctlNumber(fd, TIOCGPTN);

/** Majors of UNIX98 pseudo-terminals (devices.txt of the kernel). */
const firstPtsMajor = 136;
const lastPtsMajor = 143;
