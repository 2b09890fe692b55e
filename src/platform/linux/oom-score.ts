// When memory is short, the kernel ends the largest process: often the daemon, which is larger than each of many small
// commands, and with which all of them would end. So they come before it, by as much as it may hold itself.
import { readFileSync, writeFileSync } from "node:fs";
import { memoryLimit } from "../../core/resources.ts";

/** The program, and the output that it keeps. */
const daemonBytesMax = 400 * 1024 * 1024;
/** The kernel counts in thousandths of the memory that there is. */
const scoreMax = 1000;
/** Enough for nobody to be ended by mistake; more would put commands before everything else of a large machine. */
const precedenceMin = 50;

let score: string | undefined;

/** Holds for what the process starts from now on, too. */
export function endBeforeDaemon(pid: number): void {
  if (process.platform !== "linux") return;
  try {
    score ??= commandScore();
    writeFileSync(`/proc/${pid}/oom_score_adj`, score);
  } catch {
    // It has ended, or runs as somebody else.
  }
}

function commandScore(): string {
  const precedence = Math.max(precedenceMin, Math.ceil((daemonBytesMax / memoryLimit()) * scoreMax));
  const own = Number(readFileSync("/proc/self/oom_score_adj", "latin1"));
  return String(Math.min(own + precedence, scoreMax));
}
