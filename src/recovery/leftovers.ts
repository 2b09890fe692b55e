// Ends what killed daemons left behind: processes, control groups, directories. Runs in slices after this daemon
// listens, so that requests are not delayed. A process is a leftover by the tag in its environment, by its inherited
// mark, by its control group, by the journal, or by its parents; never by its name.
import { killTimeoutMs, leftoverGraceMs } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import { daemonMark, daemonOfMark } from "../core/process/marks.ts";
import { signalAll } from "../core/process/signal-all.ts";
import { tagNames } from "../core/process/tags.ts";
import type { TimeSlicer } from "../core/process/time-slicer.ts";
import { type AbandonedDir, abandonedDirs } from "../platform/abandoned-dirs.ts";
import {
  isAlive,
  type ProcessEntry,
  processTable,
  type SurveyedProcess,
  signalProcess,
} from "../platform/process-table.ts";
import { files } from "../util/lazy-modules.ts";
import { cgroupMembers, removeCgroups, thawCgroups } from "./abandoned-cgroups.ts";
import { daemonTag, markOfDeadStdio, tagOfDeadStdio } from "./daemon-tag.ts";

export interface LeftoversSpec {
  socketPath: string;
  /** Pids of killed daemons of this socket. The instance lock proves that none of them runs. */
  predecessors: readonly number[];
  /** The owned processes in the journal of the last of them. */
  journaled: readonly Pick<ProcessEntry, "pid" | "startTime">[];
  /** Called with all processes found so far, whenever there are new ones. */
  onFound(processes: ProcessEntry[]): void;
  /** Directories in which daemons make their run directories. */
  bases: readonly string[];
  /** The daemon's: signals to many processes share its budget. */
  slicer: TimeSlicer;
  log: Log;
}

/** Interval of the check whether signalled processes have ended. */
const pollMs = 10;
/** Survivors of SIGKILL are searched for again after this time: they may have forked. */
const searchAgainMs = 100;

export class Leftovers {
  /** Resolves when nothing is left. */
  readonly ended: Promise<void>;
  readonly #spec: LeftoversSpec;
  readonly #tags: Set<string>;
  readonly #marks: Set<bigint>;
  readonly #found = new Map<string, ProcessEntry>();
  #dirs: AbandonedDir[] = [];
  #killAt = performance.now() + leftoverGraceMs;

  constructor(spec: LeftoversSpec) {
    this.#spec = spec;
    this.#tags = new Set(spec.predecessors.map((pid) => daemonTag(spec.socketPath, pid)));
    this.#marks = new Set([...this.#tags].map(daemonMark));
    this.ended = this.#end().catch((error: unknown) => {
      const cause = error instanceof Error ? error.message : String(error);
      spec.log.error("what a killed daemon has left could not be ended", { cause });
    });
  }

  /** Skips the rest of the grace period, for a daemon that shuts down itself. */
  hurry(): Promise<void> {
    this.#killAt = 0;
    return this.ended;
  }

  async #end(): Promise<void> {
    const began = performance.now();
    await new Promise(setImmediate); // clients that waited for the socket are served first
    this.#dirs = this.#spec.bases.flatMap((base) => abandonedDirs(base));
    for (const { path, pid } of this.#dirs) thawCgroups(path, pid);
    const survivors = await this.#endProcesses();
    for (const { path, pid } of this.#dirs) await removeCgroups(path, pid);
    for (const { path } of this.#dirs)
      await files()
        .rm(path, { recursive: true, force: true })
        .catch(() => {});
    const { log } = this.#spec;
    for (const { pid } of survivors) log.error("a process could not be killed", { pid });
    if (this.#found.size === 0) return;
    const durationMs = Math.round(performance.now() - began);
    log.warn("ended what a killed daemon had left", {
      processes: this.#found.size - survivors.length,
      durationMs,
    });
  }

  /** SIGTERM, a grace period, then SIGKILL until a search finds no process. Returns the survivors. */
  async #endProcesses(): Promise<ProcessEntry[]> {
    for (;;) {
      const found = await this.#search();
      const now = performance.now();
      if (found.length === 0 || now > this.#killAt + killTimeoutMs + leftoverGraceMs) return found;
      this.#remember(found);
      const isGrace = now < this.#killAt;
      await signalEach(found, isGrace ? "SIGTERM" : "SIGKILL", this.#spec.slicer);
      const until = () => (isGrace ? this.#killAt : now + searchAgainMs);
      while (found.some(isAlive) && performance.now() < until()) await Bun.sleep(pollMs);
    }
  }

  /** Excludes this daemon, its ancestors and its descendants. */
  async #search(): Promise<ProcessEntry[]> {
    const all = (await processTable.survey(tagNames.daemon)).filter(({ isZombie }) => !isZombie);
    const excluded = relativesOf(process.pid, all);
    const inGroups = new Set(this.#dirs.flatMap(({ path, pid }) => cgroupMembers(path, pid)));
    const isLeft = (process: SurveyedProcess) =>
      !excluded.has(process.pid) &&
      (inGroups.has(process.pid) ||
        this.#isTagged(process) ||
        this.#isMarked(process) ||
        this.#isJournaled(process) ||
        this.#wasFound(process));
    return withDescendants(all.filter(isLeft), all).filter(({ pid }) => !excluded.has(pid));
  }

  #isTagged({ pid, startTime, variable }: SurveyedProcess): boolean {
    if (variable === undefined) return false;
    // A predecessor may have had our pid: then only processes older than this daemon are its leftovers.
    if (variable === daemonTag(this.#spec.socketPath) && !isOlderThanUs(startTime)) return false;
    // The pid in a tag is valid only in the pid namespace of its daemon.
    return (this.#tags.has(variable) && processTable.sharesPidScope(pid)) || tagOfDeadStdio(variable, pid);
  }

  /** The same rules for a process that cleared its environment. */
  #isMarked({ pid, startTime, mark }: SurveyedProcess): boolean {
    if (mark === undefined) return false;
    const daemon = daemonOfMark(mark);
    if (daemon === daemonMark(daemonTag(this.#spec.socketPath)) && !isOlderThanUs(startTime)) return false;
    return (this.#marks.has(daemon) && processTable.sharesPidScope(pid)) || markOfDeadStdio(daemon, pid);
  }

  #isJournaled({ pid, startTime }: ProcessEntry): boolean {
    return this.#spec.journaled.some((known) => known.pid === pid && known.startTime === startTime);
  }

  /** An earlier search may have found it by a parent that has ended since. */
  #wasFound(process: ProcessEntry): boolean {
    return this.#found.has(keyOf(process));
  }

  #remember(found: ProcessEntry[]): void {
    const others = found.filter((process) => !this.#wasFound(process));
    for (const process of others) {
      this.#found.set(keyOf(process), process);
      this.#spec.log.debug("left by a killed daemon", { pid: process.pid });
    }
    if (others.length > 0) this.#spec.onFound([...this.#found.values()]);
  }
}

const keyOf = ({ pid, startTime }: ProcessEntry): string => `${pid} ${startTime}`;

/** Start times are clock ticks on Linux and seconds on macOS. */
function isOlderThanUs(startTime: string): boolean {
  const ours = processTable.entry(process.pid)?.startTime ?? "";
  return Number(startTime) < Number(ours);
}

/** Each pid is checked again before its signal, since it may have been reused. Our own group is never signalled as a whole. */
async function signalEach(found: ProcessEntry[], signal: NodeJS.Signals, slicer: TimeSlicer): Promise<void> {
  const ownGroup = processTable.entry(process.pid)?.pgid;
  const others = found.filter(({ pgid }) => pgid !== ownGroup);
  await slicer.run(signalAll(others, signal));
  for (const entry of found) if (entry.pgid === ownGroup) signalProcess(entry, signal);
}

/** The given processes and all their descendants, each once. */
function withDescendants<P extends ProcessEntry>(starts: P[], all: P[]): P[] {
  const children = Map.groupBy(all, ({ ppid }) => ppid);
  const found = new Map<number, P>();
  const queue = [...starts];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next.pid)) continue;
    found.set(next.pid, next);
    queue.push(...(children.get(next.pid) ?? []));
  }
  return [...found.values()];
}

/** The pids of a process, its ancestors and its descendants. */
function relativesOf(pid: number, all: ProcessEntry[]): Set<number> {
  const byPid = new Map(all.map((entry) => [entry.pid, entry]));
  const own = byPid.get(pid);
  const relatives = new Set(own ? withDescendants([own], all).map((entry) => entry.pid) : [pid]);
  for (let at = own && byPid.get(own.ppid); at && !relatives.has(at.pid); at = byPid.get(at.ppid))
    relatives.add(at.pid);
  return relatives;
}
