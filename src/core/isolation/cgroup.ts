// Control groups, behind one small interface: limits for all processes of a session together, counts of what they
// used and met, and a way to stop all of them at one moment. Version 1 and 2 stand behind it.

import type { CgroupsState } from "../../upgrade/schema/document.ts";

export interface CgroupLimits {
  memoryBytes?: number;
  cpuPercent?: number;
  pids?: number;
}

/** What a limit needs. */
export type Controller = "memory" | "cpu" | "pids";
export const controllers: readonly Controller[] = ["memory", "cpu", "pids"];

/** Since the group was made; the difference of two looks is what happened between them. */
export interface CgroupCounters {
  /** Undefined where nothing counts it. */
  cpuMs: number | undefined;
  throttledMs: number | undefined;
  oomKills: number;
  forksRefused: number;
}

export interface Cgroup {
  /** Among those of the daemon. */
  readonly name: string;
  /** A process that writes 0 to all of them is in the group, and so is whatever it starts from then on. */
  readonly entrances: string[];
  members(): number[];
  counters(): CgroupCounters;
  /** Forgets the peak of before. False where the kernel cannot. */
  resetPeak(): boolean;
  peakBytes(): number | undefined;
  /** Runs `act` while nobody in the group can do anything, so that nobody forks away. */
  whileFrozen(act: () => void | Promise<void>): Promise<void>;
  /** Ends everybody in it, at once and for certain, and gives the group back. False where somebody refused. */
  destroy(): Promise<boolean>;
}

export interface Cgroups {
  readonly version: "v1" | "v2";
  /** What can be limited here. */
  readonly controllers: ReadonlySet<Controller>;
  create(limits: CgroupLimits): Cgroup;
  /** One that is there already, with its limits. */
  find(name: string): Cgroup;
  pack(): CgroupsState;
  /** What is to be removed if the daemon cannot do it itself. */
  readonly directories: string[];
  close(): void;
}

/** How the machine cannot: the reason, and what to do about it. */
export interface Shortcoming {
  reason: string;
  remedy: string;
}

export const isShortcoming = (found: object): found is Shortcoming => "reason" in found;
