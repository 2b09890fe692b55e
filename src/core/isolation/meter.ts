// Measures the usage of one command or one terminal program, and which limits it hit: the difference of the control
// group's counters before and after it.
import type { ExitReason } from "../../protocol/exec.ts";
import type { HitName } from "../../protocol/isolation.ts";
import type { MeterState } from "../../upgrade/schema/commands.ts";
import { cpuCheckMs } from "../limits.ts";
import type { Cgroup, CgroupCounters } from "./cgroup.ts";

/** The kernel's usage of an ended process and its reaped children. */
export interface ProcessUsage {
  cpuMs: number;
  /** Of the largest process. Null if unknown. */
  peakMemoryBytes: number | null;
}

export interface Measured {
  cpuMs: number | null;
  peakMemoryBytes: number | null;
  by: "process" | "cgroup" | null;
  throttledMs?: number;
  limitsHit: HitName[];
  /** Set if a limit caused the end. */
  reason?: ExitReason;
}

export interface MeteredLimits {
  cpuTimeS: number | undefined;
  fileSizeBytes: number | undefined;
}

export interface Exit {
  exitCode: number;
  signal: string | null;
}

/** Without isolation, from the kernel's usage of the process alone. */
export const measuredByProcess = (usage: ProcessUsage | undefined): Measured => ({
  cpuMs: usage?.cpuMs ?? null,
  peakMemoryBytes: usage?.peakMemoryBytes ?? null,
  by: usage ? "process" : null,
  limitsHit: [],
});

/** Also by exit code 128 + number, with which a shell ends after its last program died of the signal. */
const endedBy = ({ exitCode, signal }: Exit, name: string, number: number) =>
  signal === name || (signal === null && exitCode === 128 + number);

export class Meter {
  readonly #before: CgroupCounters | undefined;
  readonly #isPeakReset: boolean;
  readonly #peakBefore: number;

  constructor(
    readonly cgroup: Cgroup | undefined,
    readonly limits: MeteredLimits,
    /** False if the reaped process is not the program itself, but bwrap. */
    readonly trustsProcess: boolean,
    /** The readings at the start, if an upgrade hands over the command. */
    restored?: MeterState,
  ) {
    if (restored) {
      this.#isPeakReset = restored.isPeakReset;
      this.#peakBefore = restored.peakBefore;
      this.#before = restored.before && { cpuMs: undefined, throttledMs: undefined, ...restored.before };
      return;
    }
    this.#isPeakReset = cgroup?.resetPeak() ?? false;
    this.#peakBefore = this.#isPeakReset ? 0 : (cgroup?.peakBytes() ?? 0);
    this.#before = cgroup?.counters();
  }

  pack(): MeterState {
    return { before: this.#before, isPeakReset: this.#isPeakReset, peakBefore: this.#peakBefore };
  }

  /** Calls `exceeded` once when all processes together exceed the CPU time limit. Returns a function that stops it. */
  watchCpuTime(exceeded: () => void): () => void {
    const { cpuTimeS } = this.limits;
    if (cpuTimeS === undefined || this.#before?.cpuMs === undefined) return () => {};
    const timer = setInterval(() => {
      if (this.#cpuMs()! < cpuTimeS * 1000) return;
      clearInterval(timer);
      exceeded();
    }, cpuCheckMs);
    return () => clearInterval(timer);
  }

  read(exit: Exit, processUsage: ProcessUsage | undefined): Measured {
    const usage = this.trustsProcess ? processUsage : undefined;
    const cpuMs = this.#cpuMs();
    const measured: Measured =
      cpuMs === undefined
        ? measuredByProcess(usage)
        : { cpuMs, peakMemoryBytes: this.#peak(usage), by: "cgroup", limitsHit: [] };
    const { throttledMs } = this.cgroup?.counters() ?? {};
    if (throttledMs !== undefined) measured.throttledMs = throttledMs - (this.#before!.throttledMs ?? 0);
    return this.#addLimits(exit, measured);
  }

  #addLimits(exit: Exit, measured: Measured): Measured {
    const { cpuTimeS, fileSizeBytes } = this.limits;
    const now = this.cgroup?.counters();
    const isKilled = endedBy(exit, "SIGKILL", 9);
    const isCpuTimeUsed = cpuTimeS !== undefined && (measured.cpuMs ?? 0) >= cpuTimeS * 1000;
    const isOutOfMemory = (now?.oomKills ?? 0) > (this.#before?.oomKills ?? 0);
    if (isOutOfMemory) measured.limitsHit.push("memory");
    if ((now?.forksRefused ?? 0) > (this.#before?.forksRefused ?? 0)) measured.limitsHit.push("pids");
    if (isOutOfMemory && isKilled) measured.reason = "memory_limit";
    if (
      cpuTimeS !== undefined &&
      (endedBy(exit, "SIGXCPU", 24) || (isCpuTimeUsed && isKilled && !isOutOfMemory))
    ) {
      measured.limitsHit.push("cpu_time");
      measured.reason ??= "cpu_time_limit";
    }
    if (fileSizeBytes !== undefined && endedBy(exit, "SIGXFSZ", 25)) {
      measured.limitsHit.push("file_size");
      measured.reason ??= "file_size_limit";
    }
    return measured;
  }

  #cpuMs(): number | undefined {
    const now = this.cgroup?.counters().cpuMs;
    return now === undefined ? undefined : now - (this.#before!.cpuMs ?? 0);
  }

  /** A peak that was not reset belongs to this command only if it has risen since the start. */
  #peak(usage: ProcessUsage | undefined): number | null {
    const peak = this.cgroup?.peakBytes();
    if (peak !== undefined && (this.#isPeakReset || peak > this.#peakBefore)) return peak;
    return usage?.peakMemoryBytes ?? null;
  }
}
