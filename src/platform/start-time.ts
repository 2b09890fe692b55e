// When a process was started. The kernel reuses pids; a pid with its start time identifies one process.
import { childProcesses } from "../util/lazy-modules.ts";
import { startTimeOnLinux } from "./linux/start-time.ts";

type Processes = Pick<typeof import("node:child_process"), "execFileSync">;

/** In the system's own format, for comparison only; undefined if there is no such process. */
export function startTimeOf(pid: number, processes: () => Processes = childProcesses): string | undefined {
  return process.platform === "linux" ? startTimeOnLinux(pid) : startTimeByPs(pid, processes());
}

function startTimeByPs(pid: number, { execFileSync }: Processes): string | undefined {
  try {
    // Processes with other time zones and locales compare the result.
    const env = { TZ: "UTC", LC_ALL: "C" };
    const time = execFileSync("/bin/ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env,
    }).trim();
    return time.replaceAll(/\s+/g, "-") || undefined;
  } catch {
    return undefined;
  }
}
