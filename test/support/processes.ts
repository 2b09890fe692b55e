// The processes of this machine, as `ps` shows them.
import { readFileSync } from "node:fs";
import { isAlive, until } from "./wait.ts";

export interface ProcessLine {
  pid: number;
  ppid: number;
  args: string;
}

export function listProcesses(): ProcessLine[] {
  const { stdout } = Bun.spawnSync(["ps", "-ewwo", "pid=,ppid=,stat=,args="]);
  return stdout
    .toString()
    .split("\n")
    .flatMap((line) => {
      const [, pid, ppid, stat, args] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
      return args === undefined || stat!.startsWith("Z")
        ? []
        : [{ pid: Number(pid), ppid: Number(ppid), args }];
    });
}

/** Those in whose command line this is found. */
export const processesWith = (text: string): number[] =>
  listProcesses()
    .filter(({ args, pid }) => args.includes(text) && pid !== process.pid)
    .map(({ pid }) => pid);

/** What a daemon that was killed has left, by the mark in its environment. Linux only. */
export function leavingsOf(daemonPid: number): number[] {
  if (process.platform !== "linux") return [];
  const mark = `\0TRL_DAEMON=${daemonPid}:`;
  return listProcesses().flatMap(({ pid }) => {
    try {
      return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(mark) ? [pid] : [];
    } catch {
      return []; // it has ended, or is none of ours
    }
  });
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended meanwhile
  }
}

/** Asked to end, and made to where they do not. */
export async function endAll(pids: number[]): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    for (const pid of pids) signalIfThere(pid, signal);
    const areGone = await until("their end", () => !pids.some(isAlive), 5000).catch(() => false);
    if (areGone) return;
  }
}
