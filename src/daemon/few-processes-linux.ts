// Where this user or this service may have few processes, one session can take them all. The daemon must outlive that,
// and its engine does not while it starts threads: then the program is started again, with an engine that does not.
// It costs some 20 ms, and is not done elsewhere.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { readNumber, readText } from "../core/isolation/cgroup-files.ts";
import { findPlaces } from "../core/isolation/detect-cgroups-linux.ts";
import { withoutThreads, withoutThreadsMark } from "../util/engine-settings.ts";

/** A runaway is there within seconds; with more, the machine's memory ends first. */
const fewProcesses = 8192;

/** Who takes the place of another program has been given its descriptors, which would be closed. */
const handover = "TRL_HANDOVER";

/** Does not return where it starts the program again. */
export function preferFewThreads(env: Record<string, string | undefined>): void {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  const isSaid = Object.keys(withoutThreads).some((name) => env[name] !== undefined);
  if (isSaid || !isCompiled || env[handover] !== undefined) return;
  if (!existsSync(process.execPath) || processLimit() > fewProcesses) return;
  const argv = [process.argv0, ...process.argv.slice(2)];
  const known = Object.entries({ ...env, ...withoutThreads, [withoutThreadsMark]: "1" });
  const given = known.filter((entry): entry is [string, string] => entry[1] !== undefined);
  process.execve!(process.execPath, argv, Object.fromEntries(given));
}

/** Of the user, or of the control groups that the daemon is in; root's own limit is not kept by the kernel. */
function processLimit(): number {
  const [, ofUser] = /^Max processes\s+(\d+)/m.exec(readText("/proc/self/limits")) ?? [];
  const { v1, v2 } = findPlaces(readText("/proc/self/mountinfo"), readText("/proc/self/cgroup"));
  const limits = [v1.pids, v2?.path].flatMap((path) => (path === undefined ? [] : limitsFrom(path)));
  return Math.min(process.getuid?.() === 0 ? Infinity : Number(ofUser ?? Infinity), ...limits);
}

/** Of a group and those above it; the root has none. */
function limitsFrom(group: string): number[] {
  const limits: number[] = [];
  for (let at = group; existsSync(join(at, "cgroup.procs")); at = dirname(at))
    limits.push(readNumber(join(at, "pids.max")) ?? Infinity);
  return limits;
}
