// Tells others of this user that the daemon is here.
import type { Log } from "../core/log.ts";
import { startTimeOf } from "../platform/start-time.ts";
import type { Announcement } from "../protocol/announcement.ts";
import { protocolVersion } from "../protocol/methods.ts";
import { version } from "../util/version.ts";
import { announce } from "./discovery-file.ts";
import type { DaemonOptions } from "./options.ts";

type Told = Pick<Announcement, "http_url" | "run_dir" | "labels" | "capabilities" | "started_at">;

/** Gives what withdraws it. A daemon that cannot be found is still one: it only says so. */
export function announceSelf(
  { announcementsDir, socketPath }: DaemonOptions,
  told: Told,
  log: Log,
): () => void {
  if (announcementsDir === undefined) return () => {};
  try {
    return announce(announcementsDir, {
      pid: process.pid,
      start_time: startTimeOf(process.pid) ?? null,
      version,
      protocol_version: protocolVersion,
      platform: { os: process.platform, arch: process.arch, bun: Bun.version },
      socket_path: socketPath,
      ...told,
    });
  } catch (error) {
    log.warn("others cannot find this daemon by themselves", { cause: (error as Error).message });
    return () => {};
  }
}
