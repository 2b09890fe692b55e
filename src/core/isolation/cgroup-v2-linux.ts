// Control groups of version 2: one hierarchy. A group that hands controllers on to its children may hold no processes
// itself, so that the daemon, with what it has started so far, first moves into a leaf of its own:
//   <the daemon's group>/trl-PID-START.daemon   the daemon
//   <the daemon's group>/trl-PID-START/N        one for each session
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
const freezePatienceMs = 500;
/** Somebody may fork while the others are being moved. */
const movesMax = 20;

export class CgroupsV2 implements Cgroups {
  readonly version = "v2";
  readonly controllers: ReadonlySet<Controller>;
  readonly #leaf: string;
  readonly #home: string;
  #isReady = false;
  #count = 0;

  /** `parent` is the daemon's own group; `isRoot` where it is the root of the hierarchy, which may hold processes. */
  constructor(
    readonly parent: string,
    name: string,
    readonly isRoot: boolean,
  ) {
    this.#home = join(parent, name);
    this.#leaf = join(parent, `${name}.daemon`);
    this.controllers = new Set(controllersIn(join(parent, "cgroup.controllers")));
  }

  /** The daemon itself is in the leaf as long as it lives. */
  get directories(): string[] {
    return [this.#home, this.#leaf];
  }

  /** Those of a daemon that has become this one. */
  static from({ parent, name, isRoot, count }: Extract<CgroupsState, { version: "v2" }>): CgroupsV2 {
    const cgroups = new CgroupsV2(parent, name, isRoot);
    cgroups.#count = count;
    cgroups.#isReady = count > 0;
    return cgroups;
  }

  pack(): CgroupsState {
    const { version, parent, isRoot } = this;
    return { version, parent, name: basename(this.#home), isRoot, count: this.#count };
  }

  create(limits: CgroupLimits): Cgroup {
    this.#prepare();
    return new CgroupV2(join(this.#home, String(++this.#count)), limits);
  }

  find(name: string): Cgroup {
    return new CgroupV2(join(this.#home, name), {});
  }

  close(): void {
    removeNow(this.#home);
  }

  #prepare(): void {
    if (this.#isReady) return;
    removeDeserted(this.parent);
    if (!this.isRoot && !handsOn(this.parent, this.controllers)) this.#moveOut();
    handOn(this.parent, this.controllers);
    makeDirectory(this.#home);
    handOn(this.#home, this.controllers);
    this.#isReady = true;
  }

  #moveOut(): void {
    makeDirectory(this.#leaf);
    for (let move = 0; move < movesMax; move++) {
      const left = readPids(join(this.parent, "cgroup.procs"));
      if (left.length === 0) return;
      // One that has just ended cannot be moved, and need not be.
      for (const pid of left) tryWrite(join(this.#leaf, "cgroup.procs"), pid);
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

  /** Kernels before 6.12 cannot, and later ones forget it for one open file only. */
  resetPeak(): boolean {
    return false;
  }

  peakBytes(): number | undefined {
    return readNumber(this.#file("memory.peak"));
  }

  async whileFrozen(act: () => void | Promise<void>): Promise<void> {
    const isFreezing = tryWrite(this.#file("cgroup.freeze"), 1);
    const deadline = performance.now() + freezePatienceMs;
    const isFrozen = () => readField(this.#file("cgroup.events"), "frozen") === 1;
    while (isFreezing && !isFrozen() && performance.now() < deadline) await Bun.sleep(freezePollMs);
    try {
      await act();
    } finally {
      if (isFreezing) tryWrite(this.#file("cgroup.freeze"), 0);
    }
  }

  async destroy(): Promise<boolean> {
    // Where the kernel has it (5.14), one write ends all; what is left is for kernels that have not.
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
      tryWrite(this.#file("memory.swap.max"), 0); // where there is swap
    }
    if (cpuPercent !== undefined)
      write(this.#file("cpu.max"), `${Math.round((cpuPercent / 100) * periodUs)} ${periodUs}`);
    if (pids !== undefined) write(this.#file("pids.max"), pids);
  }

  #file(name: string): string {
    return join(this.directory, name);
  }
}

/** The leaf of a daemon that has ended is empty, and only an empty group can be removed. */
function removeDeserted(parent: string): void {
  for (const name of readdirSync(parent))
    if (/^trl-\d+-\d+\.daemon$/.test(name)) removeNow(join(parent, name));
}

export const controllersIn = (file: string): Controller[] =>
  readText(file)
    .split(/\s+/)
    .filter((name) => controllers.includes(name as Controller)) as Controller[];

const subtree = (group: string) => join(group, "cgroup.subtree_control");

export function handsOn(group: string, wanted: ReadonlySet<Controller>): boolean {
  const given = controllersIn(subtree(group));
  return [...wanted].every((controller) => given.includes(controller));
}

function handOn(group: string, wanted: ReadonlySet<Controller>): void {
  if (wanted.size === 0 || handsOn(group, wanted)) return;
  write(subtree(group), [...wanted].map((controller) => `+${controller}`).join(" "));
}
