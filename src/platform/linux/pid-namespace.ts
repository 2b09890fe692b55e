// The pid namespaces of processes, from /proc.
import { readFileSync, readlinkSync } from "node:fs";

/** This boot and this pid namespace; undefined if /proc does not show them. */
export function pidScopeOnLinux(): string | undefined {
  const namespace = pidNamespaceOf("self");
  try {
    const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return namespace && `${bootId} ${namespace}`;
  } catch {
    return undefined;
  }
}

/** Undefined if there is no such process, or this user may not inspect it. */
export function pidNamespaceOf(pid: number | "self"): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}
