// What one command, or one terminal's program, used and which limits it met: read before and after.
import type { ProcessUsage } from "../../platform/process-usage.ts";
import type { ExitReason } from "../../protocol/exec.ts";
import type { HitName } from "../../protocol/isolation.ts";
import type { MeterState } from "../../upgrade/schema/commands.ts";
import { cpuCheckMs } from "../limits.ts";
import type { Cgroup, CgroupCounters } from "./cgroup.ts";

export interface Measured {
  cpuMs: number | null;
  peakMemoryBytes: number | null;
  by: "process" | "cgroup" | null;
  throttledMs?: number;
  limitsHit: HitName[];
  /** Where the end was a limit's doing. */
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

/** Without isolation: what the system tells anyway. */
export const measuredByProcess = (usage: ProcessUsage | undefined): Measured => ({
  cpuMs: usage?.cpuMs ?? null,
  peakMemoryBytes: usage?.peakMemoryBytes ?? null,
  by: usage ? "process" : null,
  limitsHit: [],
});

/** Died of the signal, or of it did the last thing that a shell ran: it ends with 128 and the signal's number then. */
const endedBy = ({ exitCode, signal }: Exit, name: string, number: number) =>
  signal === name || (signal === null && exitCode === 128 + number);

export class Meter {
  readonly #before: CgroupCounters | undefined;
  readonly #isPeakReset: boolean;
  readonly #peakBefore: number;

  constructor(
    readonly cgroup: Cgroup | undefined,
    readonly limits: MeteredLimits,
    /** False where what is waited for is not what did the work. */
    readonly trustsProcess: boolean,
    /** As another program has begun it. */
    begun?: MeterState,
  ) {
    if (begun) {
      this.#isPeakReset = begun.isPeakReset;
      this.#peakBefore = begun.peakBefore;
      this.#before = begun.before && { cpuMs: undefined, throttledMs: undefined, ...begun.before };
      return;
    }
    this.#isPeakReset = cgroup?.resetPeak() ?? false;
    this.#peakBefore = this.#isPeakReset ? 0 : (cgroup?.peakBytes() ?? 0);
    this.#before = cgroup?.counters();
  }

  pack(): MeterState {
    return { before: this.#before, isPeakReset: this.#isPeakReset, peakBefore: this.#peakBefore };
  }

  /** Calls back once when all processes together have used too much; returns what ends the watch. */
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

  read(exit: Exit, given: ProcessUsage | undefined): Measured {
    const usage = this.trustsProcess ? given : undefined;
    const cpuMs = this.#cpuMs();
    const measured: Measured =
      cpuMs === undefined
        ? measuredByProcess(usage)
        : { cpuMs, peakMemoryBytes: this.#peak(usage), by: "cgroup", limitsHit: [] };
    const { throttledMs } = this.cgroup?.counters() ?? {};
    if (throttledMs !== undefined) measured.throttledMs = throttledMs - (this.#before!.throttledMs ?? 0);
    return this.#judge(exit, measured);
  }

  #judge(exit: Exit, measured: Measured): Measured {
    const { cpuTimeS, fileSizeBytes } = this.limits;
    const now = this.cgroup?.counters();
    const isKilled = endedBy(exit, "SIGKILL", 9);
    const hasUsedUp = cpuTimeS !== undefined && (measured.cpuMs ?? 0) >= cpuTimeS * 1000;
    const isOutOfMemory = (now?.oomKills ?? 0) > (this.#before?.oomKills ?? 0);
    if (isOutOfMemory) measured.limitsHit.push("memory");
    if ((now?.forksRefused ?? 0) > (this.#before?.forksRefused ?? 0)) measured.limitsHit.push("pids");
    if (isOutOfMemory && isKilled) measured.reason = "memory_limit";
    if (
      cpuTimeS !== undefined &&
      (endedBy(exit, "SIGXCPU", 24) || (hasUsedUp && isKilled && !isOutOfMemory))
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

  /** A peak that could not be reset is this command's only where it has risen. */
  #peak(usage: ProcessUsage | undefined): number | null {
    const peak = this.cgroup?.peakBytes();
    if (peak !== undefined && (this.#isPeakReset || peak > this.#peakBefore)) return peak;
    return usage?.peakMemoryBytes ?? null;
  }
}
