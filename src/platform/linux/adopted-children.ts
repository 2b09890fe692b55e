// The end of children that the previous program of an upgrade started. After `exec` they are children of this process, but
// Bun does not know them: on SIGCHLD, wait4 is called for each of them.
import { FFIType, ptr } from "bun:ffi";
import { signalName } from "../../util/signal-name.ts";
import { openOnDemand } from "../c-library.ts";
import { type ProcessUsage, usageFrom } from "../process-usage.ts";
import { readGate } from "../read-gate.ts";

export interface AdoptedExit {
  /** 128+n for a death by signal n. */
  exitCode: number;
  signal: string | null;
  usage: ProcessUsage | undefined;
}

const { i32, pointer } = FFIType;
const libc = openOnDemand({ wait4: { args: [i32, pointer, i32, pointer], returns: i32 } });

const WNOHANG = 1;
const status = new Int32Array(1);
/** struct rusage: user and system time as seconds and microseconds, then the peak in KB. */
const usage = new BigInt64Array(18);

const pending = new Map<number, (exit: AdoptedExit) => void>();
/** Polls as well: a SIGCHLD may be missed. */
const pollMs = 1000;
let timer: Timer | undefined;

/** Resolves when the child has ended, and reaps it. */
export function exitOfAdopted(pid: number): Promise<AdoptedExit> {
  return new Promise((resolve) => {
    pending.set(pid, resolve);
    if (!timer) {
      process.on("SIGCHLD", reapEnded);
      timer = setInterval(reapEnded, pollMs);
      timer.unref();
    }
    void Promise.resolve(readGate.whenOpen).then(reapEnded);
  });
}

function reapEnded(): void {
  if (readGate.whenOpen) return;
  for (const [pid, resolve] of pending) {
    const reaped = libc().wait4(pid, ptr(status), WNOHANG, ptr(usage));
    if (reaped === 0) continue;
    pending.delete(pid);
    // If other code has reaped it, the exit code is lost.
    resolve(reaped === pid ? { ...decodeStatus(status[0]!), usage: decodeUsage() } : unknownExit);
  }
  if (pending.size > 0) return;
  process.off("SIGCHLD", reapEnded);
  clearInterval(timer);
  timer = undefined;
}

const unknownExit: AdoptedExit = { exitCode: 255, signal: null, usage: undefined };

function decodeStatus(word: number): { exitCode: number; signal: string | null } {
  const number = word & 0x7f;
  if (number === 0) return { exitCode: (word >> 8) & 0xff, signal: null };
  return { exitCode: 128 + number, signal: signalName(number) ?? `SIG${number}` };
}

function decodeUsage(): ProcessUsage {
  const [userS, userUs, systemS, systemUs, peakKb] = Array.from(usage.subarray(0, 5), Number);
  return usageFrom((userS! + systemS!) * 1000 + (userUs! + systemUs!) / 1000, peakKb! * 1024);
}
