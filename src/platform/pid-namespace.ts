// Containers may share a directory and count their processes each for itself: a pid says something only in its world.
import { worldOnLinux } from "./linux/pid-namespace.ts";

/** Names the system in which pids and start times mean what they mean here; undefined where that is not known. */
export function ownWorld(): string | undefined {
  // Elsewhere start times are dates, and there is one namespace.
  return process.platform === "linux" ? worldOnLinux() : process.platform;
}
