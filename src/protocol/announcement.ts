// The discovery file: a daemon describes itself in the user's runtime directory, and clients find it there.
import * as v from "valibot";
import { Timestamp } from "./fields.ts";

export const Announcement = v.object({
  pid: v.number(),
  start_time: v.pipe(
    v.nullable(v.string()),
    v.description("start time of the process, as the system reports it"),
  ),
  started_at: Timestamp,
  version: v.string(),
  protocol_version: v.number(),
  platform: v.object({ os: v.string(), arch: v.string(), bun: v.string() }),
  socket_path: v.string(),
  run_dir: v.pipe(v.optional(v.string()), v.description("directory of the daemon's files for shells")),
  http_url: v.nullable(v.string()),
  labels: v.array(v.string()),
  capabilities: v.pipe(v.record(v.string(), v.unknown()), v.description("as in system.describe")),
});
export type Announcement = v.InferOutput<typeof Announcement>;

/** Undefined if the value is not an announcement of a known format. */
export function announcementFrom(value: unknown): Announcement | undefined {
  const parsed = v.safeParse(Announcement, value);
  return parsed.success ? parsed.output : undefined;
}
