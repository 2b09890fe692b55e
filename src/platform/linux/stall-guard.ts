// For tests: notices a turn of the event loop that keeps the daemon's thread busy for too long, in which every client
// waits, and writes down where the time went. It counts processor time, so that a busy machine is no stall.
import * as jsc from "bun:jsc";
import { appendFileSync, openSync, readSync } from "node:fs";

const beatMs = 5;
const defaultStallMs = 100;
/** Of each stack so many frames are written down, and of one stall so many stacks. */
const framesMax = 12;
const stacksMax = 3;
/** What the profiler has gathered is thrown away now and then. */
const beatsPerClearance = 400;

interface Frame {
  name: string;
  sourceURL?: string;
  line: number;
}

/**
 * TRL_STALL_FILE is the file that stalls are appended to, TRL_STALL_MS how long a turn may take. TRL_STALL_STACKS=off
 * leaves out what it did.
 */
export function guardAgainstStalls(env: Record<string, string | undefined>): void {
  const file = env["TRL_STALL_FILE"];
  if (!file) return;
  const stallMs = Number(env["TRL_STALL_MS"] ?? defaultStallMs);
  const hasStacks = env["TRL_STALL_STACKS"] !== "off";
  if (hasStacks) jsc.startSamplingProfiler();
  let busyBefore = busyMs();
  let beats = 0;
  setInterval(() => {
    const busy = busyMs();
    const tookMs = busy - busyBefore;
    busyBefore = busy;
    const stacks = hasStacks && tookMs >= stallMs ? commonStacks() : [];
    if (tookMs >= stallMs) appendFileSync(file, `${JSON.stringify({ tookMs, stacks })}\n`);
    else if (hasStacks && ++beats % beatsPerClearance === 0) traces();
    busyBefore = busyMs(); // the guard's own work is none of the daemon's
  }, beatMs);
}

/** Of this thread on a processor. The file stays open: a test may use up the descriptors. */
const fd = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
const text = Buffer.alloc(64);
function busyMs(): number {
  readSync(fd, text, 0, text.length, 0);
  return Number.parseInt(text.toString("latin1"), 10) / 1e6;
}

/** Bun's types do not have it. */
const { samplingProfilerStackTraces } = jsc as unknown as {
  samplingProfilerStackTraces(): { traces: { frames: Frame[] }[] };
};
const traces = () => samplingProfilerStackTraces().traces;

/** The stacks that were met most often since the last beat, the most common first. */
function commonStacks(): string[] {
  const counts = new Map<string, number>();
  for (const { frames } of traces()) {
    const named = frames.map(({ name, sourceURL, line }) =>
      sourceURL ? `${name} ${sourceURL}:${line}` : name,
    );
    const stack = named.slice(0, framesMax).join(" < ");
    counts.set(stack, (counts.get(stack) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  return sorted.slice(0, stacksMax).map(([stack, count]) => `${count} x ${stack}`);
}
