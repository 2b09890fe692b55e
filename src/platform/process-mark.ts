// A number that processes inherit across fork and exec, also if they clear their environment or change their user.
import { LinuxProcessMark } from "./linux/process-mark.ts";

export interface ProcessMark {
  /** Everything that `start` starts inherits the mark. */
  start<T>(mark: bigint, start: () => T): T;
  /** Whether `markOf` of a process is that of the daemon itself: no session has started it. */
  isUnmarked(mark: bigint | undefined): boolean;
}

/** Undefined if this process may not set marks, and outside of Linux. */
export const detectProcessMark = (): ProcessMark | undefined =>
  process.platform === "linux" ? LinuxProcessMark.detect() : undefined;
