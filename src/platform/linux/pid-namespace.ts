// Where pids and start times mean what they mean to us, from /proc.
import { readFileSync, readlinkSync } from "node:fs";

/** This start of the machine, and this pid namespace; undefined where /proc does not tell. */
export function worldOnLinux(): string | undefined {
  const namespace = pidNamespaceOf("self");
  try {
    const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return namespace && `${bootId} ${namespace}`;
  } catch {
    return undefined;
  }
}

/** Undefined where there is no such process, or it is not ours to look at. */
export function pidNamespaceOf(pid: number | "self"): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}
