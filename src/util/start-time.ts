// A pid is used again one day; with the time at which its process was started it is not.
import { createRequire } from "node:module";
import { startTimeOnLinux } from "./start-time-linux.ts";

/** Not with every start: on Linux it is not needed. */
const load = createRequire(import.meta.url);

/** In whatever form the system has it; undefined where there is no such process. */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === "linux" ? startTimeOnLinux(pid) : startTimeByPs(pid);
}

function startTimeByPs(pid: number): string | undefined {
  try {
    // Whoever compares it may have another time zone, and another language.
    const env = { TZ: "UTC", LC_ALL: "C" };
    const { execFileSync }: typeof import("node:child_process") = load("node:child_process");
    const time = execFileSync("/bin/ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env,
    }).trim();
    return time.replaceAll(/\s+/g, "-") || undefined;
  } catch {
    return undefined;
  }
}
