// The discovery file: one JSON file per daemon, by which clients of the same user find it. It appears complete, by a
// rename, and the daemon removes it when it stops.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Log } from "../core/log.ts";
import { startTimeOf } from "../platform/start-time.ts";
import type { Announcement } from "../protocol/announcement.ts";
import { protocolVersion } from "../protocol/methods.ts";
import { withPrivateUmask } from "../util/private-files.ts";
import { randomHex } from "../util/random.ts";
import { makeOwnDir } from "../util/runtime-dir.ts";
import { version } from "../util/version.ts";
import type { DaemonOptions } from "./options.ts";

type Described = Pick<Announcement, "http_url" | "run_dir" | "labels" | "capabilities" | "started_at">;

/** Returns a function that removes the file. A failure is only logged: the daemon works without a discovery file. */
export function announceDaemon(
  { announcementsDir, socketPath }: DaemonOptions,
  described: Described,
  log: Log,
): () => void {
  if (announcementsDir === undefined) return () => {};
  try {
    return writeDiscoveryFile(announcementsDir, {
      pid: process.pid,
      start_time: startTimeOf(process.pid) ?? null,
      version,
      protocol_version: protocolVersion,
      platform: { os: process.platform, arch: process.arch, bun: Bun.version },
      socket_path: socketPath,
      ...described,
    });
  } catch (error) {
    log.warn("could not write the discovery file", { cause: (error as Error).message });
    return () => {};
  }
}

function writeDiscoveryFile(directory: string, announcement: Announcement): () => void {
  makeOwnDir(dirname(directory));
  makeOwnDir(directory);
  // The name derives from the socket path, so a new daemon replaces the file of a killed one.
  const name = new Bun.CryptoHasher("sha256").update(announcement.socket_path).digest("hex").slice(0, 16);
  const path = join(directory, `${name}.json`);
  const temporary = join(directory, `.${name}.${randomHex(4)}`);
  try {
    withPrivateUmask(() => writeFileSync(temporary, `${JSON.stringify(announcement)}\n`, { flag: "wx" }));
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return () => {
    if (isOwn(path, announcement)) rmSync(path, { force: true });
  };
}

/** False if another daemon has replaced the file. */
function isOwn(path: string, { pid, started_at }: Announcement): boolean {
  try {
    const found = JSON.parse(readFileSync(path, "utf8")) as Announcement;
    return found.pid === pid && found.started_at === started_at;
  } catch {
    return false;
  }
}
