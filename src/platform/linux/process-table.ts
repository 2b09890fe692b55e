// The process table on Linux, from /proc.
import { openSync, readdirSync, readSync } from "node:fs";
import { constants } from "node:os";
import type { ProcessEntry, ProcessTable, SignalDisposition, SurveyedProcess } from "../process-table.ts";
import { readSystemFile } from "./libc.ts";
import { pidNamespaceOf, pidScopeOnLinux } from "./pid-namespace.ts";

export const linuxProcesses: ProcessTable = {
  entry,
  list,
  childrenOf,
  commandLine,
  environmentOf,
  isMidExec,
  markOf,
  survey,
  pidScope,
  sharesPidScope,
  signalDisposition,
  newestPid,
};

/** Processes that a survey reads per turn of the event loop: about a millisecond. */
const surveyStep = 20;

/** A process may end between two reads, so an unreadable file counts as empty. */
const readOrEmpty = (path: string): string => readSystemFile(path) ?? "";

function entry(pid: number): ProcessEntry | undefined {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // "pid (name) state ppid pgrp session ..."; the name may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, ppid, pgid, sid] = fields;
  const startTime = fields[19];
  const execId = fields[25]; // the start of the stack, which each exec chooses at random
  if (startTime === undefined) return undefined;
  const threads = Number(fields[17]);
  // After the end of its first thread, which is a zombie then, a process runs on with the others.
  const isZombie = (state === "Z" || state === "X") && threads <= 1;
  return {
    pid,
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    startTime,
    isZombie,
    execId,
    threads,
  };
}

function list(): ProcessEntry[] {
  return numericNames("/proc").flatMap((pid) => entry(pid) ?? []);
}

function childrenOf(pid: number, threads = 2): number[] {
  if (pid === process.pid) return ownChildren();
  if (threads === 1) return numbersIn(readOrEmpty(`/proc/${pid}/task/${pid}/children`));
  return numericNames(`/proc/${pid}/task`).flatMap((task) =>
    numbersIn(readOrEmpty(`/proc/${pid}/task/${task}/children`)),
  );
}

let ownChildrenFd: number | undefined;
let childrenBuffer = Buffer.allocUnsafeSlow(4096);

/**
 * The list is read after every command, so the file stays open. One read returns a page at most, some 500 to 800
 * children. If a child ends between two reads, the kernel may omit another (proc(5)), so a longer list is read twice.
 */
function ownChildren(): number[] {
  const first = readOwnChildren();
  if (first.readCount <= 1) return first.pids;
  return [...new Set([...first.pids, ...readOwnChildren().pids])];
}

function readOwnChildren(): { pids: number[]; readCount: number } {
  ownChildrenFd ??= openSync(`/proc/${process.pid}/task/${process.pid}/children`, "r");
  let length = 0;
  for (let readCount = 0; ; readCount++) {
    if (length === childrenBuffer.length)
      childrenBuffer = Buffer.concat([childrenBuffer], childrenBuffer.length * 2);
    const read = readSync(ownChildrenFd, childrenBuffer, length, childrenBuffer.length - length, length);
    if (read === 0) return { pids: numbersIn(childrenBuffer.toString("latin1", 0, length)), readCount };
    length += read;
  }
}

function numbersIn(text: string): number[] {
  const numbers: number[] = [];
  for (const number of text.split(" ")) if (number !== "") numbers.push(Number(number));
  return numbers;
}

function commandLine(pid: number): string {
  const words = readOrEmpty(`/proc/${pid}/cmdline`);
  if (words === "") return `[${readOrEmpty(`/proc/${pid}/comm`).trim()}]`;
  return Buffer.from(words, "latin1").toString("utf8").replace(/\0+$/, "").replaceAll("\0", " ");
}

function environmentOf(pid: number, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const variable of readOrEmpty(`/proc/${pid}/environ`).split("\0")) {
    const equals = variable.indexOf("=");
    const name = variable.slice(0, equals);
    if (names.includes(name))
      found[name] = Buffer.from(variable.slice(equals + 1), "latin1").toString("utf8");
  }
  return found;
}

function isMidExec(pid: number): boolean {
  return readOrEmpty(`/proc/${pid}/environ`) === "" && readOrEmpty(`/proc/${pid}/cmdline`) === "";
}

const lockLimit = /^Max file locks +(\d+) /m;

function markOf(pid: number): bigint | undefined {
  const [, soft] = lockLimit.exec(readOrEmpty(`/proc/${pid}/limits`)) ?? [];
  return soft === undefined ? undefined : BigInt(soft);
}

async function survey(name: string): Promise<SurveyedProcess[]> {
  const found: SurveyedProcess[] = [];
  for (const [index, pid] of numericNames("/proc").entries()) {
    if (index % surveyStep === surveyStep - 1) await new Promise(setImmediate);
    const known = entry(pid);
    if (known) found.push({ ...known, variable: environmentOf(pid, [name])[name], mark: markOf(pid) });
  }
  return found;
}

function pidScope(): string {
  return pidScopeOnLinux() ?? "";
}

function sharesPidScope(pid: number): boolean {
  return pidNamespaceOf(pid) === pidNamespaceOf("self");
}

function signalDisposition(pid: number, signal: NodeJS.Signals): SignalDisposition | undefined {
  const status = readOrEmpty(`/proc/${pid}/status`);
  const isIn = (set: string) => {
    const digits = new RegExp(`^${set}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1] ?? "0";
    return ((BigInt(`0x${digits}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
  };
  if (status === "") return undefined;
  return {
    isDefault: !isIn("SigCgt") && !isIn("SigIgn"),
    isBlocked: isIn("SigBlk"),
    isPending: isIn("ShdPnd") || isIn("SigPnd"),
  };
}

function newestPid(): number {
  return Number(readOrEmpty("/proc/loadavg").trim().split(" ").at(-1));
}

function numericNames(directory: string): number[] {
  try {
    return readdirSync(directory).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
