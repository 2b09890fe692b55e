// When memory runs out, the kernel kills the process with the highest score: often the daemon, which is larger than each
// of many small commands. The commands' scores are raised by as much as the daemon may occupy, so they are killed first.
import { readFileSync, writeFileSync } from "node:fs";
import { memoryLimit } from "../own-process.ts";

/** The program and the output that it holds. */
const daemonBytesMax = 400 * 1024 * 1024;
/** The kernel counts in thousandths of the available memory. */
const scoreMax = 1000;
/** A margin against rounding. More would put commands before every other program of a machine with much memory. */
const raiseMin = 50;

let score: string | undefined;

export function killBeforeDaemon(pid: number): void {
  try {
    score ??= commandScore();
    writeFileSync(`/proc/${pid}/oom_score_adj`, score);
  } catch {
    // The process has ended, or runs as another user.
  }
}

function commandScore(): string {
  const raise = Math.max(raiseMin, Math.ceil((daemonBytesMax / memoryLimit()) * scoreMax));
  const own = Number(readFileSync("/proc/self/oom_score_adj", "latin1"));
  return String(Math.min(own + raise, scoreMax));
}
