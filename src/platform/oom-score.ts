// Which processes the system kills first when memory runs out.
import * as linux from "./linux/oom-score.ts";

/** The process, and everything that it starts from now on, is killed before this one. Does nothing outside of Linux. */
export function killBeforeDaemon(pid: number): void {
  if (process.platform === "linux") linux.killBeforeDaemon(pid);
}
