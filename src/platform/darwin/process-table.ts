// The process table on macOS, from libproc. Each call takes microseconds, so none of them yields to the event loop.
import type { ProcessEntry, ProcessTable, SurveyedProcess } from "../process-table.ts";
import { allPids, bsdInfoOf, programStartOf, sessionOf } from "./libproc.ts";

export const darwinProcesses: ProcessTable = {
  entry,
  list,
  childrenOf: (pid) => list().flatMap((it) => (it.ppid === pid ? it.pid : [])),
  commandLine: (pid) => programStartOf(pid)?.words.join(" ") ?? "",
  environmentOf: (pid, names) => variablesIn(programStartOf(pid)?.environment ?? [], names),
  // A program that starts keeps the words of the one before it until it has its own.
  isMidExec: () => false,
  markOf: () => undefined,
  survey,
  // Start times are dates, and there is one namespace.
  pidScope: () => "darwin",
  sharesPidScope: () => true,
  signalDisposition: () => undefined,
  newestPid: () => 0,
};

function entry(pid: number): ProcessEntry | undefined {
  const info = bsdInfoOf(pid);
  if (!info) return undefined;
  const sid = sessionOf(pid);
  // A zombie has no session any more.
  return { ...info, sid: sid > 0 ? sid : info.pgid, execId: undefined, threads: undefined };
}

function list(): ProcessEntry[] {
  return allPids().flatMap((pid) => entry(pid) ?? []);
}

/** macOS shows the environment of its own programs (/bin/sleep) to root alone, and only if SIP is off. */
export function variablesIn(environment: string[], names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const variable of environment) {
    const equals = variable.indexOf("=");
    const name = variable.slice(0, equals);
    if (names.includes(name)) found[name] = variable.slice(equals + 1);
  }
  return found;
}

/** Processes that a survey reads per turn of the event loop. */
const surveyStep = 50;

async function survey(name: string): Promise<SurveyedProcess[]> {
  const found: SurveyedProcess[] = [];
  for (const [index, pid] of allPids().entries()) {
    if (index % surveyStep === surveyStep - 1) await new Promise(setImmediate);
    const known = entry(pid);
    const variable = variablesIn(programStartOf(pid)?.environment ?? [], [name])[name];
    if (known) found.push({ ...known, variable, mark: undefined });
  }
  return found;
}
