// A machine that has too little of something, and how a daemon fares on it.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tempDir } from "./temp-dir.ts";

const ticksPerSecond = 100;

/** What a process has used so far; another program's load makes it hardly larger. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / ticksPerSecond;
}

/** The part of one processor that a process has used in that time: 1 = all of it. */
export async function cpuShare(pid: number, ms = 600): Promise<number> {
  const before = cpuSeconds(pid);
  const began = performance.now();
  await Bun.sleep(ms);
  return (cpuSeconds(pid) - before) / ((performance.now() - began) / 1000);
}

/** A daemon that does nothing uses less; one that is caught in a loop, more. */
export const idleShareMax = 0.25;

export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

export interface SmallDisk extends Disposable {
  path: string;
  /** Takes all that is left. */
  fill(): void;
  empty(): void;
  makeReadOnly(isReadOnly: boolean): void;
}

/** For tests that declare `needs("mount")`. */
export function smallDisk(kilobytes = 512): SmallDisk {
  const dir = tempDir();
  const { path } = dir;
  const ask = (...words: string[]) => Bun.spawnSync(words, { stdin: "ignore", stderr: "ignore" }).exitCode;
  const options = `size=${kilobytes}k,mode=1777`;
  if (ask("mount", "-t", "tmpfs", "-o", options, "tmpfs", path) !== 0) {
    dir[Symbol.dispose]();
    throw new Error(`cannot mount a disk of ${kilobytes} KB`);
  }
  return {
    path,
    fill: () => void ask("dd", "if=/dev/zero", `of=${path}/fill`, "bs=4k"),
    empty: () => rmSync(`${path}/fill`),
    makeReadOnly: (isReadOnly) => void ask("mount", "-o", `remount,${isReadOnly ? "ro" : "rw"}`, path),
    [Symbol.dispose]() {
      ask("umount", "-l", path);
      dir[Symbol.dispose]();
    },
  };
}
