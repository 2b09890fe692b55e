// Control groups of version 1: each controller has its own hierarchy, so a session's group is one directory in each of
// them. All are below the daemon's own group, so the daemon's limits also apply to its sessions.
import { basename, dirname, join } from "node:path";
import type { V1Controller, V1Parents } from "../../platform/linux/cgroup-paths.ts";
import type { CgroupsState } from "../../upgrade/schema/document.ts";
import { type Cgroup, type CgroupCounters, type CgroupLimits, type Cgroups, controllers } from "./cgroup.ts";
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
/** A process in uninterruptible sleep cannot be frozen. After this time the kill proceeds without. */
const freezeTimeoutMs = 500;

export class CgroupsV1 implements Cgroups {
  readonly version = "v1";
  readonly controllers;
  readonly #groups: V1Parents;
  #count = 0;

  constructor(parents: V1Parents, name: string) {
    this.controllers = new Set(controllers.filter((controller) => parents[controller] !== undefined));
    this.#groups = Object.fromEntries(
      Object.entries(parents).map(([controller, parent]) => [controller, join(parent, name)]),
    );
  }

  get directories(): string[] {
    return [...new Set(Object.values(this.#groups))];
  }

  /** Restores the groups after an upgrade. */
  static from({ homes, count }: Extract<CgroupsState, { version: "v1" }>): CgroupsV1 {
    const parents = Object.entries(homes).map(([controller, home]) => [controller, dirname(home)]);
    const name = basename(Object.values(homes)[0] ?? "");
    const cgroups = new CgroupsV1(Object.fromEntries(parents), name);
    cgroups.#count = count;
    return cgroups;
  }

  pack(): CgroupsState {
    return { version: this.version, homes: this.#groups as Record<string, string>, count: this.#count };
  }

  create(limits: CgroupLimits): Cgroup {
    return this.#open(String(++this.#count), limits);
  }

  find(name: string): Cgroup {
    return this.#open(name, {});
  }

  #open(name: string, limits: CgroupLimits): Cgroup {
    const paths = Object.entries(this.#groups).map(([controller, group]) => [controller, join(group, name)]);
    return new CgroupV1(name, Object.fromEntries(paths), limits);
  }

  close(): void {
    for (const directory of this.directories) removeNow(directory);
  }
}

class CgroupV1 implements Cgroup {
  readonly entrances: string[];
  readonly #paths: V1Parents;
  readonly #directories: string[];

  constructor(
    readonly name: string,
    paths: V1Parents,
    limits: CgroupLimits,
  ) {
    this.#paths = paths;
    this.#directories = [...new Set(Object.values(paths))];
    this.entrances = this.#directories.map((directory) => join(directory, "cgroup.procs"));
    try {
      for (const directory of this.#directories) makeDirectory(directory);
      this.#limit(limits);
    } catch (error) {
      for (const directory of this.#directories) removeNow(directory);
      throw error;
    }
  }

  members(): number[] {
    return [...new Set(this.entrances.flatMap(readPids))];
  }

  counters(): CgroupCounters {
    const throttledNs = readField(this.#file("cpu", "cpu.stat"), "throttled_time");
    const usedNs = readNumber(this.#file("cpuacct", "cpuacct.usage"));
    return {
      cpuMs: usedNs === undefined ? undefined : usedNs / 1e6,
      throttledMs: throttledNs === undefined ? undefined : throttledNs / 1e6,
      oomKills: readField(this.#file("memory", "memory.oom_control"), "oom_kill") ?? 0,
      forksRefused: readField(this.#file("pids", "pids.events"), "max") ?? 0,
    };
  }

  resetPeak(): boolean {
    return this.#paths.memory !== undefined && tryWrite(this.#file("memory", "memory.max_usage_in_bytes"), 0);
  }

  peakBytes(): number | undefined {
    return readNumber(this.#file("memory", "memory.max_usage_in_bytes"));
  }

  async whileFrozen(act: () => void | Promise<void>): Promise<void> {
    const state = this.#file("freezer", "freezer.state");
    const isFreezing = this.#paths.freezer !== undefined && tryWrite(state, "FROZEN");
    const deadline = performance.now() + freezeTimeoutMs;
    while (isFreezing && readText(state).trim() !== "FROZEN" && performance.now() < deadline)
      await Bun.sleep(freezePollMs);
    try {
      await act();
    } finally {
      if (isFreezing) tryWrite(state, "THAWED");
    }
  }

  async destroy(): Promise<boolean> {
    const isEmpty = await killUntilEmpty(
      () => this.members(),
      (act) => this.whileFrozen(act),
    );
    const removed = isEmpty ? await Promise.all(this.#directories.map(removeDirectory)) : [false];
    return removed.every(Boolean);
  }

  #limit({ memoryBytes, cpuPercent, pids }: CgroupLimits): void {
    if (memoryBytes !== undefined) {
      write(this.#file("memory", "memory.limit_in_bytes"), memoryBytes);
      // Limits memory and swap together, if the kernel accounts swap.
      tryWrite(this.#file("memory", "memory.memsw.limit_in_bytes"), memoryBytes);
    }
    if (cpuPercent !== undefined) {
      write(this.#file("cpu", "cpu.cfs_period_us"), periodUs);
      write(this.#file("cpu", "cpu.cfs_quota_us"), Math.round((cpuPercent / 100) * periodUs));
    }
    if (pids !== undefined) write(this.#file("pids", "pids.max"), pids);
  }

  /** A controller without a hierarchy gets a path that cannot be read or written. */
  #file(controller: V1Controller, name: string): string {
    return join(this.#paths[controller] ?? "/nonexistent", name);
  }
}
