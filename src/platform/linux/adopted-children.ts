// Children that the program before us has started: after its exec they are ours, but Bun knows nothing of them. The
// system tells by SIGCHLD that some child has ended, and those that are known here are asked then.
import { FFIType, ptr } from "bun:ffi";
import { constants } from "node:os";
import type { ProcessUsage } from "../../core/isolation/meter.ts";
import { readGate } from "../read-gate.ts";
import { usageFrom } from "../process-usage.ts";
import { openLibrary } from "../c-library.ts";

export interface AdoptedEnd {
  /** 128+n for a death by signal. */
  exitCode: number;
  signal: string | null;
  usage: ProcessUsage | undefined;
}

const { i32, pointer } = FFIType;
const library = () => openLibrary({ wait4: { args: [i32, pointer, i32, pointer], returns: i32 } });
let opened: ReturnType<typeof library> | undefined;

const WNOHANG = 1;
const status = new Int32Array(1);
/** struct rusage: user and system time as seconds and microseconds, then the peak in KB. */
const usage = new BigInt64Array(18);

const awaited = new Map<number, (end: AdoptedEnd) => void>();
/** A signal may be missed, an end may not. */
const lookMs = 1000;
let timer: Timer | undefined;

/** Resolves when the child has ended, whose status is taken then. */
export function endOfAdopted(pid: number): Promise<AdoptedEnd> {
  return new Promise((resolve) => {
    awaited.set(pid, resolve);
    if (!timer) {
      process.on("SIGCHLD", look);
      timer = setInterval(look, lookMs);
      timer.unref();
    }
    void Promise.resolve(readGate.over).then(look);
  });
}

function look(): void {
  if (readGate.over) return;
  opened ??= library();
  for (const [pid, tell] of awaited) {
    const found = opened.wait4(pid, ptr(status), WNOHANG, ptr(usage));
    if (found === 0) continue;
    awaited.delete(pid);
    // Somebody else may have taken its status: how it ended is not known then.
    tell(found === pid ? { ...exitOf(status[0]!), usage: usageNow() } : { ...lost, usage: undefined });
  }
  if (awaited.size > 0) return;
  process.off("SIGCHLD", look);
  clearInterval(timer);
  timer = undefined;
}

const lost = { exitCode: 255, signal: null };

function exitOf(word: number): { exitCode: number; signal: string | null } {
  const number = word & 0x7f;
  if (number === 0) return { exitCode: (word >> 8) & 0xff, signal: null };
  const named = Object.entries(constants.signals).find(([, value]) => value === number);
  return { exitCode: 128 + number, signal: named?.[0] ?? `SIG${number}` };
}

function usageNow(): ProcessUsage {
  const [userS, userUs, systemS, systemUs, peakKb] = Array.from(usage.subarray(0, 5), Number);
  return usageFrom((userS! + systemS!) * 1000 + (userUs! + systemUs!) / 1000, peakKb! * 1024);
}
