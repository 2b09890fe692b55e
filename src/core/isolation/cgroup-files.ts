// Reads and writes the files of a control group. A group may vanish at any time, so unreadable files count as empty.
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  writeSync,
} from "node:fs";
import { sendSignal } from "../../platform/process-table.ts";
import { killTimeoutMs } from "../limits.ts";

export function readText(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}

/** Undefined if the file is missing or has no number. */
export function readNumber(file: string): number | undefined {
  const text = readText(file).trim();
  return text === "" || Number.isNaN(Number(text)) ? undefined : Number(text);
}

/** Reads a file with lines of a name and a number: `oom_kill 3`. */
export function readField(file: string, name: string): number | undefined {
  for (const line of readText(file).split("\n")) {
    const [key, value] = line.split(" ");
    if (key === name) return Number(value);
  }
  return undefined;
}

export const readPids = (file: string): number[] =>
  readText(file)
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);

/** Opens the file for writing only: some of these files are not readable, even by their owner. */
export function write(file: string, value: string | number): void {
  const fd = openSync(file, existsSync(file) ? constants.O_WRONLY : "w");
  try {
    writeSync(fd, `${value}\n`);
  } finally {
    closeSync(fd);
  }
}

/** False if the file is missing or the kernel refuses the value. */
export function tryWrite(file: string, value: string | number): boolean {
  try {
    write(file, value);
    return true;
  } catch {
    return false;
  }
}

export const makeDirectory = (path: string): void => void mkdirSync(path, { recursive: true, mode: 0o755 });

/** Retries with backoff: killed members leave the group with a delay. */
export async function removeDirectory(path: string): Promise<boolean> {
  const deadline = performance.now() + killTimeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    if (removeNow(path)) return true;
    if (performance.now() > deadline) return false;
    await Bun.sleep(pause);
  }
}

/** True if the directory is removed or does not exist. */
export function removeNow(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

export function killPids(pids: number[]): void {
  for (const pid of pids) sendSignal(pid, "SIGKILL");
}

/** Kills all members until the group is empty, each time while the members are frozen and cannot fork. */
export async function killUntilEmpty(
  members: () => number[],
  whileFrozen: (act: () => void) => Promise<void>,
): Promise<boolean> {
  const deadline = performance.now() + killTimeoutMs;
  for (let pause = 1; members().length > 0; pause = Math.min(pause * 2, 20)) {
    await whileFrozen(() => killPids(members()));
    if (performance.now() > deadline) return false;
    await Bun.sleep(pause);
  }
  return true;
}
