// What daemons that were killed have left: processes, control groups, directories. Looked for when this daemon listens
// already, and never in one go: nobody waits for it. Whose a process was is told by the tag in its environment, by the
// mark that it inherited, by the control group that it is in, by what the dead daemon had noted of it, or by its
// parents; never by its name.

import { membersOf, sweepCgroups, thaw } from "../core/isolation/abandoned-cgroups.ts";
import { killTimeoutMs, leftoverGraceMs } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import { daemonMark, daemonOfMark } from "../core/process/marks.ts";
import { signalAll } from "../core/process/signal-all.ts";
import { tagNames } from "../core/process/tags.ts";
import { TimeSlicer } from "../core/process/time-slicer.ts";
import { daemonTag, markOfDeadStdio, tagOfDeadStdio } from "../daemon/daemon-tag.ts";
import { type AbandonedDir, abandonedDirs } from "../platform/abandoned-dirs.ts";
import {
  isAlive,
  type ProcessEntry,
  processTable,
  type SurveyedProcess,
  signalProcess,
} from "../platform/process-table.ts";
import { files } from "../util/lazy-modules.ts";
import { kinOf, withDescendants } from "./process-relatives.ts";

export interface LeftoversSpec {
  socketPath: string;
  /** Those who had this socket and were killed. Never one that lives: to be known for certain, by its lock. */
  predecessors: readonly number[];
  /** What the last of them had in custody, as it noted it. */
  noted: readonly Pick<ProcessEntry, "pid" | "startTime">[];
  /** Hears of all that were found so far, when there are others. */
  onFound(processes: ProcessEntry[]): void;
  /** Where daemons make their directories. */
  bases: readonly string[];
  log: Log;
}

/** How often the dying are looked at. */
const pollMs = 10;
/** When those who were killed are still there after so long, all are looked for again. */
const lookAgainMs = 100;

export class Leftovers {
  /** Resolves when nothing is left. */
  readonly ended: Promise<void>;
  readonly #spec: LeftoversSpec;
  readonly #tags: Set<string>;
  readonly #marks: Set<bigint>;
  readonly #met = new Map<string, ProcessEntry>();
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

  /** For a daemon that is about to end itself: without it nobody would know of them. */
  hurry(): Promise<void> {
    this.#killAt = 0;
    return this.ended;
  }

  async #end(): Promise<void> {
    const began = performance.now();
    await new Promise(setImmediate); // whoever has waited for the socket is served first
    this.#dirs = this.#spec.bases.flatMap((base) => abandonedDirs(base));
    for (const { path, pid } of this.#dirs) thaw(path, pid);
    const survivors = await this.#endProcesses();
    for (const { path, pid } of this.#dirs) await sweepCgroups(path, pid);
    for (const { path } of this.#dirs)
      await files()
        .rm(path, { recursive: true, force: true })
        .catch(() => {});
    const { log } = this.#spec;
    for (const { pid } of survivors) log.error("a process could not be killed", { pid });
    if (this.#met.size === 0) return;
    const durationMs = Math.round(performance.now() - began);
    log.warn("ended what a killed daemon had left", {
      processes: this.#met.size - survivors.length,
      durationMs,
    });
  }

  /** SIGTERM, a grace, SIGKILL, and again until a look finds nobody. */
  async #endProcesses(): Promise<ProcessEntry[]> {
    for (;;) {
      const found = await this.#find();
      const now = performance.now();
      if (found.length === 0 || now > this.#killAt + killTimeoutMs + leftoverGraceMs) return found;
      this.#note(found);
      const isGrace = now < this.#killAt;
      await signalEach(found, isGrace ? "SIGTERM" : "SIGKILL");
      const until = () => (isGrace ? this.#killAt : now + lookAgainMs);
      while (found.some(isAlive) && performance.now() < until()) await Bun.sleep(pollMs);
    }
  }

  /** Neither this daemon, nor who has started it, nor what it has started itself. */
  async #find(): Promise<ProcessEntry[]> {
    const all = (await processTable.survey(tagNames.daemon)).filter(({ isZombie }) => !isZombie);
    const spared = kinOf(process.pid, all);
    const inGroups = new Set(this.#dirs.flatMap(({ path, pid }) => membersOf(path, pid)));
    const isLeft = (process: SurveyedProcess) =>
      !spared.has(process.pid) &&
      (inGroups.has(process.pid) ||
        this.#isTagged(process) ||
        this.#isMarked(process) ||
        this.#isNoted(process) ||
        this.#isMet(process));
    return withDescendants(all.filter(isLeft), all).filter(({ pid }) => !spared.has(pid));
  }

  #isTagged({ pid, startTime, variable }: SurveyedProcess): boolean {
    if (variable === undefined) return false;
    // Pids are used again: where ours was a predecessor's, only who is older than we are is its.
    if (variable === daemonTag(this.#spec.socketPath) && !isOlderThanUs(startTime)) return false;
    // A pid in a tag is that of the namespace of its daemon: in another one, another's.
    return (this.#tags.has(variable) && processTable.sharesPidScope(pid)) || tagOfDeadStdio(variable, pid);
  }

  /** The same rules for one that has cleared its environment. */
  #isMarked({ pid, startTime, mark }: SurveyedProcess): boolean {
    if (mark === undefined) return false;
    const daemon = daemonOfMark(mark);
    if (daemon === daemonMark(daemonTag(this.#spec.socketPath)) && !isOlderThanUs(startTime)) return false;
    return (this.#marks.has(daemon) && processTable.sharesPidScope(pid)) || markOfDeadStdio(daemon, pid);
  }

  #isNoted({ pid, startTime }: ProcessEntry): boolean {
    return this.#spec.noted.some((noted) => noted.pid === pid && noted.startTime === startTime);
  }

  /** Its parents, by whom it was known, may have ended first. */
  #isMet(process: ProcessEntry): boolean {
    return this.#met.has(keyOf(process));
  }

  #note(found: ProcessEntry[]): void {
    const others = found.filter((process) => !this.#isMet(process));
    for (const process of others) {
      this.#met.set(keyOf(process), process);
      this.#spec.log.debug("left by a killed daemon", { pid: process.pid });
    }
    if (others.length > 0) this.#spec.onFound([...this.#met.values()]);
  }
}

const keyOf = ({ pid, startTime }: ProcessEntry): string => `${pid} ${startTime}`;

/** Times are numbers on Linux, and dates elsewhere. */
function isOlderThanUs(startTime: string): boolean {
  const ours = processTable.entry(process.pid)?.startTime ?? "";
  const timeOf = (text: string) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text));
  return timeOf(startTime) < timeOf(ours);
}

/** The survey took a while: only who is still the same is meant. Our own group is never signalled as a whole. */
async function signalEach(found: ProcessEntry[], signal: NodeJS.Signals): Promise<void> {
  const ownGroup = processTable.entry(process.pid)?.pgid;
  const others = found.filter(({ pgid }) => pgid !== ownGroup);
  await new TimeSlicer().run(signalAll(others, signal));
  for (const entry of found) if (entry.pgid === ownGroup) signalProcess(entry, signal);
}
