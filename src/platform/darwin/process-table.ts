// The process table on macOS, read with ps(1).
import type { ProcessEntry, ProcessTable, SurveyedProcess } from "../process-table.ts";

export const darwinProcesses: ProcessTable = {
  entry,
  list,
  childrenOf,
  commandLine,
  environmentOf,
  // ps always shows a command line.
  isMidExec: () => false,
  markOf: () => undefined,
  survey,
  // Start times are dates, and there is one namespace.
  pidScope: () => "darwin",
  sharesPidScope: () => true,
  signalDisposition: () => undefined,
  newestPid: () => 0,
};

function ps(...args: string[]): string[] {
  const result = Bun.spawnSync(["/bin/ps", ...args], { stderr: "ignore" });
  return result.stdout.toString().split("\n").filter(Boolean);
}

// The "sess" of ps on macOS is a kernel address; the process group replaces the session id.
const columns = ["-o", "pid=,ppid=,pgid=,stat=,lstart="];

function parse(line: string): ProcessEntry | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)\s*$/.exec(line);
  if (!match) return undefined;
  const [, pid, ppid, pgid, state, startTime] = match;
  const group = Number(pgid);
  const isZombie = state!.startsWith("Z");
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: group,
    sid: group,
    startTime: startTime!,
    isZombie,
    execId: undefined,
    threads: undefined,
  };
}

function entry(pid: number): ProcessEntry | undefined {
  return ps(...columns, "-p", String(pid)).map(parse)[0];
}

function list(): ProcessEntry[] {
  return ps("-A", ...columns).flatMap((line) => parse(line) ?? []);
}

function childrenOf(pid: number): number[] {
  return list()
    .filter((process) => process.ppid === pid)
    .map((process) => process.pid);
}

function commandLine(pid: number): string {
  return ps("-ww", "-o", "command=", "-p", String(pid))[0]?.trim() ?? "";
}

function environmentOf(pid: number, names: readonly string[]): Record<string, string> {
  const line = ps("-Eww", "-o", "command=", "-p", String(pid))[0] ?? "";
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = variableIn(line, name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** ps appends the variables to the command's arguments; a value ends at its first space. */
const variableIn = (line: string, name: string): string | undefined =>
  new RegExp(`(?:^|\\s)${name}=(\\S*)`).exec(line)?.[1];

/** One ps for all processes, without blocking the event loop. */
async function survey(name: string): Promise<SurveyedProcess[]> {
  const child = Bun.spawn(["/bin/ps", "-AEww", "-o", "pid=,ppid=,pgid=,stat=,lstart=,command="], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const lines = (await child.stdout.text()).split("\n");
  return lines.flatMap((line) => {
    const [, before, command] = /^(\s*\d+\s+\d+\s+\d+\s+\S+(?:\s+\S+){5})\s(.*)$/.exec(line) ?? [];
    const known = before === undefined ? undefined : parse(before);
    return known ? { ...known, variable: variableIn(command!, name), mark: undefined } : [];
  });
}
