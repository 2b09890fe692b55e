// The terminal of a process on Linux: found by its number in /proc, opened beside the program without becoming ours.
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import type { TerminalSize } from "../../core/terminal/drivers/driver.ts";
import { duplicate, ioctl, ioctlNumber, ioctlOpen, ioctlWith } from "../libc.ts";
import type { OutputValve } from "../terminal.ts";

const TCXONC = 0x540a;
const TCOOFF = 0;
const TCOON = 1;
const FIONREAD = 0x541b;
const TIOCGPTN = 0x80045430;
const TIOCSWINSZ = 0x5414;
const TIOCGPTPEER = 0x5441;

/**
 * As ^S and ^Q would, by the terminal itself. The kernel loses a line's end now and then when the output is stopped while
 * a program prints (n_tty looks for room, and does not look again whether its "\r\n" was taken).
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

/** As rows, columns, and no pixels. */
export function setSize(fd: number, { cols, rows }: TerminalSize): void {
  ioctlWith(fd, TIOCSWINSZ, new Uint16Array([rows, cols, 0, 0]));
}

export function unreadInput(pid: number): number {
  const fd = openTerminalOf(pid);
  if (fd === undefined) return 0;
  const count = ioctlNumber(fd, FIONREAD);
  closeSync(fd);
  return count ?? 0;
}

/** Whether a read of the terminal's other side would give something now. Unlike `poll` it waits for nobody. */
export const hasOutput = (masterFd: number): boolean => (ioctlNumber(masterFd, FIONREAD) ?? 0) > 0;

/**
 * A descriptor of our own for the other side of the process's terminal, which somebody in this process holds: what
 * was just opened has the highest numbers, as a rule.
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
    return undefined; // it has ended
  }
}

export function terminalNumberOf(pid: number): number | undefined {
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

/** The program's side of the terminal whose other side a descriptor is; undefined where it cannot be had (Linux < 4.13). */
export const openSlave = (masterFd: number): number | undefined =>
  ioctlOpen(masterFd, TIOCGPTPEER, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);

/** The number of the terminal whose other side a descriptor is. */
const masterNumber = (fd: number): number | undefined => ioctlNumber(fd, TIOCGPTN);

/** Majors of UNIX98 pseudo-terminals (devices.txt of the kernel). */
const firstPtsMajor = 136;
const lastPtsMajor = 143;
