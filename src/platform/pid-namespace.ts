// The scope of pids. Containers may share a directory while each counts its own processes: a pid that was read from a file
// is only valid within the scope that it was written in.
import { pidScopeOnLinux } from "./linux/pid-namespace.ts";

/** Identifies the boot and the pid namespace in which pids and start times are valid; undefined if it is not known. */
export function ownPidScope(): string | undefined {
  // On other systems start times are dates, and there is one namespace.
  return process.platform === "linux" ? pidScopeOnLinux() : process.platform;
}
