// Receipts: the measured usage of one command or terminal program, and the totals of a session.
import type { HitName, Receipt } from "../../protocol/isolation.ts";
import type { Measured } from "./meter.ts";

const rounded = (ms: number) => Math.round(ms * 10) / 10;

export function receiptOf(measured: Measured, bytesOut: number, leftovers: number): Receipt {
  const { cpuMs, peakMemoryBytes, by, throttledMs, limitsHit } = measured;
  return {
    cpu_ms: cpuMs === null ? null : rounded(cpuMs),
    peak_memory_bytes: peakMemoryBytes,
    bytes_out: bytesOut,
    leftovers,
    measured_by: by,
    ...(throttledMs === undefined ? {} : { throttled_ms: rounded(throttledMs) }),
    limits_hit: limitsHit,
  };
}

const none: readonly HitName[] = [];

/** Sums times and bytes, and keeps the highest memory peak. */
export class ReceiptTotals {
  #cpuMs: number | null = null;
  #peakBytes: number | null = null;
  #bytesOut = 0;
  #throttledMs: number | undefined;
  #by: Receipt["measured_by"] = null;
  #hits: readonly HitName[] = none;

  add(receipt: Receipt): void {
    if (receipt.cpu_ms !== null) this.#cpuMs = (this.#cpuMs ?? 0) + receipt.cpu_ms;
    if (receipt.peak_memory_bytes !== null)
      this.#peakBytes = Math.max(this.#peakBytes ?? 0, receipt.peak_memory_bytes);
    if (receipt.throttled_ms !== undefined)
      this.#throttledMs = (this.#throttledMs ?? 0) + receipt.throttled_ms;
    this.#bytesOut += receipt.bytes_out;
    this.#by = receipt.measured_by ?? this.#by;
    if (receipt.limits_hit.length > 0) this.#hits = [...new Set([...this.#hits, ...receipt.limits_hit])];
  }

  /** `leftovers` is the current number of leftover processes. */
  sum(leftovers: number): Receipt {
    return receiptOf(
      {
        cpuMs: this.#cpuMs,
        peakMemoryBytes: this.#peakBytes,
        by: this.#by,
        ...(this.#throttledMs === undefined ? {} : { throttledMs: this.#throttledMs }),
        limitsHit: [...this.#hits],
      },
      this.#bytesOut,
      leftovers,
    );
  }
}
