// A daemon to measure, percentiles, and rows of the table. Everything is a ratio against a floor in the same run:
// machines are shared and noisy, so the two sides take turns.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const binary = join(import.meta.dir, "../dist/trl");

export interface Row {
  what: string;
  measured: string;
  floor: string;
  ratio: number;
  goal: string;
  isMet: boolean;
}

export interface BenchDaemon extends AsyncDisposable {
  socketPath: string;
  pid: number;
}

/** Both servers on the same core: whether a wake-up crosses cores makes more difference than what they do. */
export const pinned = Bun.which("taskset") ? ["taskset", "-c", "0"] : [];

export async function startDaemon({ pin = false, flags = [] as string[] } = {}): Promise<BenchDaemon> {
  const dir = mkdtempSync(join(tmpdir(), "trl-bench-"));
  const socketPath = join(dir, "trl.sock");
  const own = [binary, "--socket-path", socketPath, "--session-max-commands", "0", ...flags];
  const child = Bun.spawn([...(pin ? pinned : []), ...own], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  for (let isThere = false; !isThere; await Bun.sleep(1)) {
    const socket = await Bun.connect({ unix: socketPath, socket: { data() {} } }).catch(() => undefined);
    socket?.end();
    isThere = socket !== undefined;
  }
  return {
    socketPath,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Takes turns, so that both sides meet the same noise; with a pause, neither meets what the other left to do. */
export async function alternate(
  rounds: number,
  sides: (() => Promise<unknown>)[],
  pauseMs = 0,
): Promise<number[][]> {
  for (const side of sides) for (let i = 0; i < 10; i++) await side();
  const samples: number[][] = sides.map(() => []);
  for (let i = 0; i < rounds; i++) {
    for (const [at, side] of sides.entries()) {
      if (pauseMs > 0) await Bun.sleep(pauseMs);
      samples[at]!.push(await timed(side));
    }
  }
  return samples;
}

export async function repeat(rounds: number, side: () => Promise<unknown>): Promise<number[]> {
  for (let i = 0; i < 10; i++) await side();
  const samples: number[] = [];
  for (let i = 0; i < rounds; i++) samples.push(await timed(side));
  return samples;
}

export function percentile(samples: number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))]!;
}

export const median = (samples: number[]): number => percentile(samples, 0.5);
export const ms = (value: number): string => `${value.toFixed(3)} ms`;

/** A row whose goal is an upper bound on the ratio of two medians. */
export function atMost(what: string, measured: number[], floor: number[], limit: number): Row {
  const ratio = median(measured) / median(floor);
  return {
    what,
    measured: ms(median(measured)),
    floor: ms(median(floor)),
    ratio,
    goal: `<= ${limit}`,
    isMet: ratio <= limit,
  };
}
