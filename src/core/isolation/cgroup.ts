// The interface of control groups: limits for all processes of a session together, counters of their usage, and a way
// to freeze all of them. Implemented for version 1 and version 2.
import type { CgroupsState } from "../../upgrade/schema/document.ts";

export interface CgroupLimits {
  memoryBytes?: number;
  cpuPercent?: number;
  pids?: number;
}

/** The controllers that limits need. */
export type Controller = "memory" | "cpu" | "pids";
export const controllers: readonly Controller[] = ["memory", "cpu", "pids"];

/** The file in a run directory that lists the control groups of its daemon, for crash recovery. */
export const cgroupListName = "cgroups";

/** Totals since the group was made. A command's share is the difference of two readings. */
export interface CgroupCounters {
  /** Undefined if no controller counts it. */
  cpuMs: number | undefined;
  throttledMs: number | undefined;
  oomKills: number;
  forksRefused: number;
}

export interface Cgroup {
  /** Unique among the groups of the daemon. */
  readonly name: string;
  /** A process that writes 0 to all of these files joins the group; its later children are members, too. */
  readonly entrances: string[];
  members(): number[];
  counters(): CgroupCounters;
  /** Resets the memory peak. False if the kernel cannot. */
  resetPeak(): boolean;
  peakBytes(): number | undefined;
  /** Runs `act` while all members are frozen, so that none of them can fork. */
  whileFrozen(act: () => void | Promise<void>): Promise<void>;
  /** Kills all members and removes the group. False if a member survives. */
  destroy(): Promise<boolean>;
}

export interface Cgroups {
  readonly version: "v1" | "v2";
  /** Controllers that the daemon may use. */
  readonly controllers: ReadonlySet<Controller>;
  create(limits: CgroupLimits): Cgroup;
  /** An existing group, with its limits. */
  find(name: string): Cgroup;
  pack(): CgroupsState;
  /** Directories that crash recovery must remove if the daemon is killed. */
  readonly directories: string[];
  close(): void;
}

/** Why the machine lacks a capability, and what to do about it. */
export interface Shortcoming {
  reason: string;
  remedy: string;
}

export const isShortcoming = (found: object): found is Shortcoming => "reason" in found;
