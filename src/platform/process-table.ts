// What the operating system knows of its processes, behind one small interface.
import { constants } from "node:os";
import { darwinProcesses } from "./darwin/process-table.ts";
import { kill } from "./libc.ts";
import { linuxProcesses } from "./linux/process-table.ts";

export interface ProcessEntry {
  pid: number;
  ppid: number;
  /** Process group and session: what `kill -pgid` and job control go by. */
  pgid: number;
  sid: number;
  /** With the pid, names one process for ever: pids are used again. */
  startTime: string;
  isZombie: boolean;
  /** Another one after each `exec`, and a fork's is its parent's; undefined where the system does not tell. */
  image: string | undefined;
  /** How many it has; undefined where the system does not tell. */
  threads: number | undefined;
}

/** What a signal is to a process. */
export interface Stance {
  /** Neither caught nor ignored: for most signals, its end. */
  isDefault: boolean;
  isBlocked: boolean;
  isPending: boolean;
}

/** Any process of this machine, with one variable of its environment and its mark, where those can be read. */
export interface SurveyedProcess extends ProcessEntry {
  variable: string | undefined;
  mark: bigint | undefined;
}

export interface ProcessTable {
  entry(pid: number): ProcessEntry | undefined;
  list(): ProcessEntry[];
  /** Direct children; those of ours include adopted orphans. One that is known to have one thread is read faster. */
  childrenOf(pid: number, threads?: number): number[];
  commandLine(pid: number): string;
  /** Variables of the environment that the process was started with, by name. */
  environmentOf(pid: number, names: readonly string[]): Record<string, string>;
  /** Has neither a command line nor an environment, as for a moment in the middle of execve. */
  isBlank(pid: number): boolean;
  /** The number that a session's processes inherit (marks.ts); undefined where there is none, or no way to read it. */
  markOf(pid: number): bigint | undefined;
  /** All processes. Takes its time, in which others have their turns. */
  survey(name: string): Promise<SurveyedProcess[]>;
  /** Names the system in which pids and start times mean what they mean here: this start of it, this namespace. */
  world(): string;
  /** Whether a process counts its pids as we do. */
  isInOurWorld(pid: number): boolean;
  /** Undefined where the process has gone, or the system does not tell. */
  stanceOf(pid: number, signal: NodeJS.Signals): Stance | undefined;
  /** Of all processes of this machine the last that was made; 0 where the system does not tell. */
  newestPid(): number;
}

export const processTable: ProcessTable = process.platform === "linux" ? linuxProcesses : darwinProcesses;

/** Signals a process only while it is still the one that was looked at. */
export function signalProcess(target: ProcessEntry, signal: NodeJS.Signals): void {
  if (isSame(target)) sendSignal(target.pid, signal);
}

/** Its pid has not been used again; it may have ended. */
export const isSame = ({ pid, startTime }: ProcessEntry): boolean =>
  processTable.entry(pid)?.startTime === startTime;

export function isLiving({ pid, startTime }: ProcessEntry): boolean {
  const now = processTable.entry(pid);
  return now?.startTime === startTime && !now.isZombie;
}

/** Signals a pid, or a group as `-pgid`. False where nobody is there any more. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  // 0 and -1 would be our own group, and everybody.
  if (!Number.isInteger(pid) || Math.abs(pid) <= 1 || Math.abs(pid) === process.pid) return false;
  return kill(pid, signal === 0 ? 0 : constants.signals[signal]);
}
