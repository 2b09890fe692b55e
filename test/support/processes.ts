// The processes of this machine: from /proc on Linux, by `ps` elsewhere.
import { readdirSync, readFileSync } from "node:fs";
import { until } from "./wait.ts";

export interface ProcessLine {
  pid: number;
  ppid: number;
  /** The session that it belongs to. */
  sid: number;
  /** The process group in the foreground of its terminal. */
  foregroundGroup: number;
  /** One letter: R runs, S sleeps, T is stopped, Z is a zombie. */
  state: string;
  args: string;
}

/** Every process, zombies included. */
export const allProcesses = (): ProcessLine[] => (process.platform === "linux" ? fromProc() : fromPs());

export const listProcesses = (): ProcessLine[] => allProcesses().filter(({ state }) => state !== "Z");

export const childrenOf = (pid: number): ProcessLine[] => allProcesses().filter(({ ppid }) => ppid === pid);

export const processOf = (pid: number): ProcessLine | undefined =>
  process.platform === "linux" ? readProc(pid) : fromPs(pid)[0];

/** What it has in memory now. */
export function residentBytes(pid: number): number {
  const kilobytes =
    process.platform === "linux"
      ? /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]
      : Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout.toString();
  return Number(kilobytes) * 1024;
}

/** A zombie still has a pid, but it is dead. */
export function isAlive(pid: number): boolean {
  const state = processOf(pid)?.state;
  return state !== undefined && state !== "Z";
}

function fromProc(): ProcessLine[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => readProc(Number(pid)) ?? []);
}

function readProc(pid: number): ProcessLine | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    const [state, ppid, , sid, , tpgid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trimEnd();
    return {
      pid,
      ppid: Number(ppid),
      sid: Number(sid),
      foregroundGroup: Number(tpgid),
      state: state!,
      args: args || `[${name}]`,
    };
  } catch {
    return undefined; // it has ended meanwhile
  }
}

function fromPs(pid?: number): ProcessLine[] {
  const selection = pid === undefined ? ["-A"] : ["-p", String(pid)];
  const { stdout } = Bun.spawnSync(["ps", ...selection, "-ww", "-o", "pid=,ppid=,sess=,tpgid=,stat=,args="]);
  return stdout
    .toString()
    .split("\n")
    .flatMap((line) => {
      const fields = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(-?\d+)\s+(\S)\S*\s+(.*)$/.exec(line);
      if (!fields) return [];
      const [found, ppid, sid, foregroundGroup] = fields.slice(1, 5).map(Number);
      const [state, args] = fields.slice(5);
      return [
        {
          pid: found!,
          ppid: ppid!,
          sid: sid!,
          foregroundGroup: foregroundGroup!,
          state: state!,
          args: args!,
        },
      ];
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

export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
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
