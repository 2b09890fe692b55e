// Control groups of version 2: one hierarchy. A group that enables controllers for its children may have no processes
// itself, so the daemon and its current children first move to a leaf group:
//   <the daemon's group>/trl-PID-START.daemon   the daemon
//   <the daemon's group>/trl-PID-START/N        one group per session
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { CgroupsState } from "../../upgrade/schema/document.ts";
import {
  type Cgroup,
  type CgroupCounters,
  type CgroupLimits,
  type Cgroups,
  type Controller,
  controllers,
} from "./cgroup.ts";
import {
  killUntilEmpty,
  makeDirectory,
  readField,
  readNumber,
  readPids,
  readText,
  removeDirectory,
  removeNow,
  tryWrite,
  write,
} from "./cgroup-files.ts";

const periodUs = 100_000;
const freezePollMs = 1;
const freezeTimeoutMs = 500;
/** A process may fork while the others are moved, so the move is retried. */
const movesMax = 20;

export class CgroupsV2 implements Cgroups {
  readonly version = "v2";
  readonly controllers: ReadonlySet<Controller>;
  readonly #leaf: string;
  readonly #group: string;
  #isReady = false;
  #count = 0;

  /** `parent` is the daemon's own group. The root of the hierarchy (`isRoot`) may have processes and children. */
  constructor(
    readonly parent: string,
    name: string,
    readonly isRoot: boolean,
  ) {
    this.#group = join(parent, name);
    this.#leaf = join(parent, `${name}.daemon`);
    this.controllers = new Set(controllersIn(join(parent, "cgroup.controllers")));
  }

  /** Only crash recovery can remove the leaf: the daemon is in it until its end. */
  get directories(): string[] {
    return [this.#group, this.#leaf];
  }

  /** Restores the groups after an upgrade. */
  static from({ parent, name, isRoot, count }: Extract<CgroupsState, { version: "v2" }>): CgroupsV2 {
    const cgroups = new CgroupsV2(parent, name, isRoot);
    cgroups.#count = count;
    cgroups.#isReady = count > 0;
    return cgroups;
  }

  pack(): CgroupsState {
    const { version, parent, isRoot } = this;
    return { version, parent, name: basename(this.#group), isRoot, count: this.#count };
  }

  create(limits: CgroupLimits): Cgroup {
    this.#prepare();
    return new CgroupV2(join(this.#group, String(++this.#count)), limits);
  }

  find(name: string): Cgroup {
    return new CgroupV2(join(this.#group, name), {});
  }

  close(): void {
    removeNow(this.#group);
  }

  #prepare(): void {
    if (this.#isReady) return;
    removeEmptyLeaves(this.parent);
    if (!this.isRoot && !enablesControllers(this.parent, this.controllers)) this.#moveToLeaf();
    enableControllers(this.parent, this.controllers);
    makeDirectory(this.#group);
    enableControllers(this.#group, this.controllers);
    this.#isReady = true;
  }

  #moveToLeaf(): void {
    makeDirectory(this.#leaf);
    for (let move = 0; move < movesMax; move++) {
      const pids = readPids(join(this.parent, "cgroup.procs"));
      if (pids.length === 0) return;
      // The write fails for a process that has just ended.
      for (const pid of pids) tryWrite(join(this.#leaf, "cgroup.procs"), pid);
    }
  }
}

class CgroupV2 implements Cgroup {
  readonly entrances: string[];
  readonly #procs: string;

  constructor(
    readonly directory: string,
    limits: CgroupLimits,
  ) {
    this.#procs = this.#file("cgroup.procs");
    this.entrances = [this.#procs];
    makeDirectory(directory);
    try {
      this.#limit(limits);
    } catch (error) {
      removeNow(directory);
      throw error;
    }
  }

  get name(): string {
    return basename(this.directory);
  }

  members(): number[] {
    return readPids(this.#procs);
  }

  counters(): CgroupCounters {
    const usedUs = readField(this.#file("cpu.stat"), "usage_usec");
    const throttledUs = readField(this.#file("cpu.stat"), "throttled_usec");
    return {
      cpuMs: usedUs === undefined ? undefined : usedUs / 1000,
      throttledMs: throttledUs === undefined ? undefined : throttledUs / 1000,
      oomKills: readField(this.#file("memory.events"), "oom_kill") ?? 0,
      forksRefused: readField(this.#file("pids.events"), "max") ?? 0,
    };
  }

  /** Kernels before 6.12 cannot reset memory.peak; later ones reset it for one open file only. */
  resetPeak(): boolean {
    return false;
  }

  peakBytes(): number | undefined {
    return readNumber(this.#file("memory.peak"));
  }

  async whileFrozen(act: () => void | Promise<void>): Promise<void> {
    const isFreezing = tryWrite(this.#file("cgroup.freeze"), 1);
    const deadline = performance.now() + freezeTimeoutMs;
    const isFrozen = () => readField(this.#file("cgroup.events"), "frozen") === 1;
    while (isFreezing && !isFrozen() && performance.now() < deadline) await Bun.sleep(freezePollMs);
    try {
      await act();
    } finally {
      if (isFreezing) tryWrite(this.#file("cgroup.freeze"), 0);
    }
  }

  async destroy(): Promise<boolean> {
    // Linux 5.14 and newer kill all members by one write; the loop below is for older kernels.
    if (readText(this.#procs) !== "") tryWrite(this.#file("cgroup.kill"), 1);
    const isEmpty = await killUntilEmpty(
      () => this.members(),
      (act) => this.whileFrozen(act),
    );
    return isEmpty && (await removeDirectory(this.directory));
  }

  #limit({ memoryBytes, cpuPercent, pids }: CgroupLimits): void {
    if (memoryBytes !== undefined) {
      write(this.#file("memory.max"), memoryBytes);
      tryWrite(this.#file("memory.swap.max"), 0); // the file exists only with swap accounting
    }
    if (cpuPercent !== undefined)
      write(this.#file("cpu.max"), `${Math.round((cpuPercent / 100) * periodUs)} ${periodUs}`);
    if (pids !== undefined) write(this.#file("pids.max"), pids);
  }

  #file(name: string): string {
    return join(this.directory, name);
  }
}

/** Removes leaves of ended daemons: the kernel refuses to remove a group that has processes. */
function removeEmptyLeaves(parent: string): void {
  for (const name of readdirSync(parent))
    if (/^trl-\d+-\d+\.daemon$/.test(name)) removeNow(join(parent, name));
}

export const controllersIn = (file: string): Controller[] =>
  readText(file)
    .split(/\s+/)
    .filter((name) => controllers.includes(name as Controller)) as Controller[];

const subtree = (group: string) => join(group, "cgroup.subtree_control");

export function enablesControllers(group: string, wanted: ReadonlySet<Controller>): boolean {
  const enabled = controllersIn(subtree(group));
  return [...wanted].every((controller) => enabled.includes(controller));
}

function enableControllers(group: string, wanted: ReadonlySet<Controller>): void {
  if (wanted.size === 0 || enablesControllers(group, wanted)) return;
  write(subtree(group), [...wanted].map((controller) => `+${controller}`).join(" "));
}
