// For tests: detects a turn of the event loop that occupies the daemon's thread for too long, while every client waits,
// and logs the stacks. It measures processor time, so load of other processes does not count.
import * as jsc from "bun:jsc";
import { appendFileSync, openSync, readSync } from "node:fs";

const intervalMs = 5;
const defaultStallMs = 100;
const framesPerStackMax = 12;
const stacksPerStallMax = 3;
/** The profiler's samples are discarded after this many intervals without a stall. */
const intervalsPerDiscard = 400;

interface Frame {
  name: string;
  sourceURL?: string;
  line: number;
}

/** Appends stalls to TRL_STALL_FILE: turns longer than TRL_STALL_MS, with their stacks unless TRL_STALL_STACKS=off. */
export function guardAgainstStalls(env: Record<string, string | undefined>): void {
  const file = env["TRL_STALL_FILE"];
  if (!file) return;
  const stallMs = Number(env["TRL_STALL_MS"] ?? defaultStallMs);
  const hasStacks = env["TRL_STALL_STACKS"] !== "off";
  if (hasStacks) jsc.startSamplingProfiler();
  let busyBefore = busyMs();
  let intervals = 0;
  setInterval(() => {
    const busy = busyMs();
    const tookMs = busy - busyBefore;
    busyBefore = busy;
    const stacks = hasStacks && tookMs >= stallMs ? commonStacks() : [];
    if (tookMs >= stallMs) appendFileSync(file, `${JSON.stringify({ tookMs, stacks })}\n`);
    else if (hasStacks && ++intervals % intervalsPerDiscard === 0) traces();
    busyBefore = busyMs(); // leaves out the time that this callback took
  }, intervalMs);
}

/** Processor time of the main thread. The file stays open: a test may use up the descriptors. */
const fd = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
const text = Buffer.alloc(64);
function busyMs(): number {
  readSync(fd, text, 0, text.length, 0);
  return Number.parseInt(text.toString("latin1"), 10) / 1e6;
}

// Bun's types do not have this function.
const { samplingProfilerStackTraces } = jsc as unknown as {
  samplingProfilerStackTraces(): { traces: { frames: Frame[] }[] };
};
const traces = () => samplingProfilerStackTraces().traces;

/** The stacks with the most samples since the last call, most frequent first. */
function commonStacks(): string[] {
  const counts = new Map<string, number>();
  for (const { frames } of traces()) {
    const named = frames.map(({ name, sourceURL, line }) =>
      sourceURL ? `${name} ${sourceURL}:${line}` : name,
    );
    const stack = named.slice(0, framesPerStackMax).join(" < ");
    counts.set(stack, (counts.get(stack) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  return sorted.slice(0, stacksPerStallMax).map(([stack, count]) => `${count} x ${stack}`);
}
