// What a daemon that was killed left running: found by the tag in its environment, and ended.

import { processTable, signalProcess } from "../core/process/process-table.ts";
import { tagNames } from "../core/process/tags.ts";

/** Names a daemon by its socket; the pid tells its successor that it is another. */
export const daemonTag = (socketPath: string): string => `${process.pid}:${socketPath}`;

export function endAbandoned(socketPath: string): number {
  let ended = 0;
  for (const entry of processTable.list()) {
    const tag = processTable.environmentOf(entry.pid, [tagNames.daemon])[tagNames.daemon];
    if (tag === undefined || entry.pid === process.pid || tag === daemonTag(socketPath)) continue;
    if (tag.slice(tag.indexOf(":") + 1) !== socketPath) continue;
    signalProcess(entry, "SIGKILL");
    ended++;
  }
  return ended;
}
