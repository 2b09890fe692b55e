// A pid is used again one day; with the time at which its process was started it is not.
import { childProcesses } from "../util/lazy-modules.ts";
import { startTimeOnLinux } from "./linux/start-time.ts";

type Processes = Pick<typeof import("node:child_process"), "execFileSync">;

/** In whatever form the system has it; undefined where there is no such process. */
export function startTimeOf(pid: number, processes: () => Processes = childProcesses): string | undefined {
  return process.platform === "linux" ? startTimeOnLinux(pid) : startTimeByPs(pid, processes());
}

function startTimeByPs(pid: number, { execFileSync }: Processes): string | undefined {
  try {
    // Whoever compares it may have another time zone, and another language.
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
