// Control groups of version 1: a hierarchy for each controller, so that a session's group is a directory in several
// places. They are made beneath the daemon's own group, so that whatever limits the daemon limits its sessions.
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
/** A process in uninterruptible sleep cannot be frozen; the kill goes on without. */
const freezePatienceMs = 500;

export class CgroupsV1 implements Cgroups {
  readonly version = "v1";
  readonly controllers;
  readonly #homes: V1Parents;
  #count = 0;

  constructor(parents: V1Parents, name: string) {
    this.controllers = new Set(controllers.filter((controller) => parents[controller] !== undefined));
    this.#homes = Object.fromEntries(
      Object.entries(parents).map(([controller, parent]) => [controller, join(parent, name)]),
    );
  }

  get directories(): string[] {
    return [...new Set(Object.values(this.#homes))];
  }

  /** Those of a daemon that has become this one. */
  static from({ homes, count }: Extract<CgroupsState, { version: "v1" }>): CgroupsV1 {
    const parents = Object.entries(homes).map(([controller, home]) => [controller, dirname(home)]);
    const name = basename(Object.values(homes)[0] ?? "");
    const cgroups = new CgroupsV1(Object.fromEntries(parents), name);
    cgroups.#count = count;
    return cgroups;
  }

  pack(): CgroupsState {
    return { version: this.version, homes: this.#homes as Record<string, string>, count: this.#count };
  }

  create(limits: CgroupLimits): Cgroup {
    return this.#at(String(++this.#count), limits);
  }

  find(name: string): Cgroup {
    return this.#at(name, {});
  }

  #at(name: string, limits: CgroupLimits): Cgroup {
    const homes = Object.entries(this.#homes).map(([controller, home]) => [controller, join(home, name)]);
    return new CgroupV1(name, Object.fromEntries(homes), limits);
  }

  close(): void {
    for (const directory of this.directories) removeNow(directory);
  }
}

class CgroupV1 implements Cgroup {
  readonly entrances: string[];
  readonly #at: V1Parents;
  readonly #directories: string[];

  constructor(
    readonly name: string,
    at: V1Parents,
    limits: CgroupLimits,
  ) {
    this.#at = at;
    this.#directories = [...new Set(Object.values(at))];
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
    return this.#at.memory !== undefined && tryWrite(this.#file("memory", "memory.max_usage_in_bytes"), 0);
  }

  peakBytes(): number | undefined {
    return readNumber(this.#file("memory", "memory.max_usage_in_bytes"));
  }

  async whileFrozen(act: () => void | Promise<void>): Promise<void> {
    const state = this.#file("freezer", "freezer.state");
    const isFreezing = this.#at.freezer !== undefined && tryWrite(state, "FROZEN");
    const deadline = performance.now() + freezePatienceMs;
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
      // With swap on top of it, where the kernel counts that.
      tryWrite(this.#file("memory", "memory.memsw.limit_in_bytes"), memoryBytes);
    }
    if (cpuPercent !== undefined) {
      write(this.#file("cpu", "cpu.cfs_period_us"), periodUs);
      write(this.#file("cpu", "cpu.cfs_quota_us"), Math.round((cpuPercent / 100) * periodUs));
    }
    if (pids !== undefined) write(this.#file("pids", "pids.max"), pids);
  }

  /** A hierarchy that is not there has no files, and counts nothing. */
  #file(controller: V1Controller, name: string): string {
    return join(this.#at[controller] ?? "/nonexistent", name);
  }
}
