// Measured usage and limits hit, from the counters of a control group before and after, and from the signal.
import { describe, expect, test } from "bun:test";
import type { Cgroup, CgroupCounters } from "../../../../src/core/isolation/cgroup.ts";
import { Meter, measuredByProcess } from "../../../../src/core/isolation/meter.ts";
import { ReceiptTotals, receiptOf } from "../../../../src/core/isolation/receipt.ts";

const usage = { cpuMs: 12.34, peakMemoryBytes: 1000 };
const none = { cpuTimeS: undefined, fileSizeBytes: undefined };
const killed = { exitCode: 137, signal: "SIGKILL" };
const clean = { exitCode: 0, signal: null };

function fakeCgroup({ canReset = true, peak = 0 } = {}) {
  const counters: CgroupCounters = { cpuMs: 100, throttledMs: 0, oomKills: 2, forksRefused: 3 };
  const state = { peak, counters };
  const cgroup = {
    counters: () => ({ ...counters }),
    resetPeak: () => canReset,
    peakBytes: () => state.peak,
  } as Partial<Cgroup> as Cgroup;
  return { cgroup, counters, state };
}

describe("a limit is reported", () => {
  test("memory: only if a process was killed for it since the start", () => {
    const { cgroup, counters } = fakeCgroup();
    const meter = new Meter(cgroup, none, true);
    expect(meter.read(killed, usage)).toMatchObject({ limitsHit: [] });
    expect(meter.read(killed, usage).reason).toBeUndefined();
    counters.oomKills++;
    expect(meter.read(killed, usage)).toMatchObject({ limitsHit: ["memory"], reason: "memory_limit" });
    expect(meter.read({ exitCode: 137, signal: null }, usage).reason).toBe("memory_limit");
    expect(meter.read(clean, usage)).toMatchObject({ limitsHit: ["memory"] });
    expect(meter.read(clean, usage).reason).toBeUndefined();
  });

  test("processes: refused forks, without an exit reason", () => {
    const { cgroup, counters } = fakeCgroup();
    const meter = new Meter(cgroup, none, true);
    counters.forksRefused += 10;
    expect(meter.read(clean, usage).limitsHit).toEqual(["pids"]);
    expect(meter.read(clean, usage).reason).toBeUndefined();
  });

  test("processor time: by its signal, or by a kill after it was used up", () => {
    const meter = new Meter(undefined, { ...none, cpuTimeS: 1 }, true);
    const much = { cpuMs: 1001, peakMemoryBytes: 1 };
    expect(meter.read({ exitCode: 152, signal: "SIGXCPU" }, usage).reason).toBe("cpu_time_limit");
    expect(meter.read({ exitCode: 152, signal: null }, usage).reason).toBe("cpu_time_limit");
    expect(meter.read(killed, much)).toMatchObject({ reason: "cpu_time_limit", limitsHit: ["cpu_time"] });
    expect(meter.read(killed, usage).reason).toBeUndefined();
    expect(meter.read(clean, much).reason).toBeUndefined();
  });

  test("file size: by its signal", () => {
    const meter = new Meter(undefined, { ...none, fileSizeBytes: 1 }, true);
    expect(meter.read({ exitCode: 153, signal: null }, usage)).toMatchObject({
      reason: "file_size_limit",
      limitsHit: ["file_size"],
    });
  });

  test("not if it was not requested", () => {
    const meter = new Meter(undefined, none, true);
    for (const exitCode of [137, 152, 153])
      expect(meter.read({ exitCode, signal: null }, usage)).toMatchObject({ limitsHit: [] });
  });
});

describe("the usage", () => {
  test("is the difference of the group's counters", () => {
    const { cgroup, counters, state } = fakeCgroup();
    const meter = new Meter(cgroup, none, true);
    counters.cpuMs = 150.25;
    counters.throttledMs = 7;
    state.peak = 5000;
    expect(meter.read(clean, usage)).toMatchObject({
      cpuMs: 50.25,
      throttledMs: 7,
      peakMemoryBytes: 5000,
      by: "cgroup",
    });
  });

  test("has a peak that cannot be reset only if it has risen", () => {
    const { cgroup, state } = fakeCgroup({ canReset: false, peak: 9000 });
    const meter = new Meter(cgroup, none, true);
    expect(meter.read(clean, usage).peakMemoryBytes).toBe(1000);
    state.peak = 9001;
    expect(meter.read(clean, usage).peakMemoryBytes).toBe(9001);
  });

  test("is the process's own without a group, and unknown if the process was bwrap", () => {
    expect(new Meter(undefined, none, true).read(clean, usage)).toMatchObject({
      cpuMs: 12.34,
      by: "process",
    });
    expect(new Meter(undefined, none, false).read(clean, usage)).toMatchObject({ cpuMs: null, by: null });
  });

  test("is watched if a group counts it", async () => {
    const { cgroup, counters } = fakeCgroup();
    const meter = new Meter(cgroup, { ...none, cpuTimeS: 1 }, true);
    const { promise, resolve } = Promise.withResolvers<string>();
    const end = meter.watchCpuTime(() => resolve("exceeded"));
    counters.cpuMs = 1101;
    expect(await promise).toBe("exceeded");
    end();
  });
});

describe("a receipt", () => {
  test("has the fields of the protocol", () => {
    expect(receiptOf(measuredByProcess(usage), 42, 3)).toEqual({
      cpu_ms: 12.3,
      peak_memory_bytes: 1000,
      bytes_out: 42,
      leftovers: 3,
      measured_by: "process",
      limits_hit: [],
    });
  });

  test("is summed for a session", () => {
    const totals = new ReceiptTotals();
    expect(totals.sum(0)).toMatchObject({
      cpu_ms: null,
      peak_memory_bytes: null,
      bytes_out: 0,
      measured_by: null,
    });
    totals.add(receiptOf({ ...measuredByProcess(usage), limitsHit: ["memory"] }, 10, 0));
    totals.add(
      receiptOf({ cpuMs: 5, peakMemoryBytes: 7, by: "cgroup", throttledMs: 2, limitsHit: ["memory"] }, 5, 0),
    );
    totals.add(receiptOf({ cpuMs: null, peakMemoryBytes: null, by: null, limitsHit: ["pids"] }, 1, 0));
    expect(totals.sum(2)).toEqual({
      cpu_ms: 17.3,
      peak_memory_bytes: 1000,
      bytes_out: 16,
      leftovers: 2,
      measured_by: "cgroup",
      throttled_ms: 2,
      limits_hit: ["memory", "pids"],
    });
  });
});
