import { cpuSeconds, type Daemon, residentKb } from "../harness/daemon.ts";
import type { Bench } from "../harness/scenario.ts";

export interface IdleCost {
  eachKb: number;
  cpuPercent: number;
}

/** The daemon's memory before and after so many were made, once it has settled; undefined where there is no /proc. */
export async function idleCost(
  bench: Bench,
  { pid }: Daemon,
  count: number,
  make: () => Promise<void>,
  restMs = 3000,
): Promise<IdleCost | undefined> {
  // The first few bring in what all share.
  for (let i = 0; i < 5; i++) await make();
  await Bun.sleep(bench.times(restMs, 300));
  const beforeKb = residentKb(pid);
  for (let i = 0; i < count; i++) await make();
  await Bun.sleep(bench.times(restMs, 500));
  const afterKb = residentKb(pid);
  const cpuBefore = cpuSeconds(pid);
  const seconds = bench.times(10, 1);
  await Bun.sleep(seconds * 1000);
  const cpuAfter = cpuSeconds(pid);
  if (beforeKb === undefined || afterKb === undefined || cpuBefore === undefined || cpuAfter === undefined)
    return undefined;
  return { eachKb: (afterKb - beforeKb) / count, cpuPercent: ((cpuAfter - cpuBefore) / seconds) * 100 };
}
