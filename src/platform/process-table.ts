// The system's table of processes, and signals that reach only the process that was read from it.
import { constants } from "node:os";
import { darwinProcesses } from "./darwin/process-table.ts";
import { kill } from "./libc.ts";
import { linuxProcesses } from "./linux/process-table.ts";

export interface ProcessEntry {
  pid: number;
  ppid: number;
  /** Process group and session, the targets of `kill -pgid` and of job control. */
  pgid: number;
  sid: number;
  /** Identifies the process together with the pid, which the kernel reuses. */
  startTime: string;
  isZombie: boolean;
  /** Changes with each `exec`, and a fork has that of its parent; undefined if the system does not provide it. */
  execId: string | undefined;
  /** Undefined if the system does not provide it. */
  threads: number | undefined;
}

/** How a process handles one signal. */
export interface SignalDisposition {
  /** Neither caught nor ignored: most signals end the process. */
  isDefault: boolean;
  isBlocked: boolean;
  isPending: boolean;
}

/** A process with one variable of its environment and its mark, if this user may read them. */
export interface SurveyedProcess extends ProcessEntry {
  variable: string | undefined;
  mark: bigint | undefined;
}

export interface ProcessTable {
  entry(pid: number): ProcessEntry | undefined;
  list(): ProcessEntry[];
  /** Direct children; those of this process include adopted orphans. Faster if the process has one thread. */
  childrenOf(pid: number, threads?: number): number[];
  commandLine(pid: number): string;
  /** Variables of the environment that the process was started with, by name. */
  environmentOf(pid: number, names: readonly string[]): Record<string, string>;
  /** Whether it has neither a command line nor an environment, as in the middle of execve. */
  isMidExec(pid: number): boolean;
  /** The mark that a session's processes inherit (process-mark.ts); undefined if there is none, or it is not readable. */
  markOf(pid: number): bigint | undefined;
  /** All processes, with the variable of that name. Yields to the event loop meanwhile. */
  survey(name: string): Promise<SurveyedProcess[]>;
  /** Identifies the boot and the pid namespace in which pids and start times are valid. */
  pidScope(): string;
  /** Whether the process is in the pid namespace of this one. */
  sharesPidScope(pid: number): boolean;
  /** Undefined if the process has ended, or the system does not provide it. */
  signalDisposition(pid: number, signal: NodeJS.Signals): SignalDisposition | undefined;
  /** The pid of the newest process of the machine; 0 if the system does not provide it. */
  newestPid(): number;
}

export const processTable: ProcessTable = process.platform === "linux" ? linuxProcesses : darwinProcesses;

/** Signals the process unless its pid has been reused. */
export function signalProcess(target: ProcessEntry, signal: NodeJS.Signals): void {
  if (isSameProcess(target)) sendSignal(target.pid, signal);
}

/** Whether the pid has not been reused; the process may be a zombie. */
export const isSameProcess = ({ pid, startTime }: ProcessEntry): boolean =>
  processTable.entry(pid)?.startTime === startTime;

export function isAlive({ pid, startTime }: ProcessEntry): boolean {
  const now = processTable.entry(pid);
  return now?.startTime === startTime && !now.isZombie;
}

/** Signals a pid, or a group as `-pgid`. False if there is no such process or group. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  // kill(2) takes 0 for the own group and -1 for every process.
  if (!Number.isInteger(pid) || Math.abs(pid) <= 1 || Math.abs(pid) === process.pid) return false;
  return kill(pid, signal === 0 ? 0 : constants.signals[signal]);
}
