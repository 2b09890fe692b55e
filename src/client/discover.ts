// Finds the daemons of this user on this machine by their discovery files, and removes files of dead daemons.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createConnection } from "node:net";
import { startTimeOf } from "../platform/start-time.ts";
import { type Announcement, announcementFrom } from "../protocol/announcement.ts";
import { discoveryFilesIn, readDiscoveryFile } from "../util/discovery-files.ts";
import { type Camelized, camelized } from "./naming.ts";

/** A daemon that accepts connections: `connect({ socket: socketPath })`. */
export type Discovered = Camelized<Announcement>;

/** A daemon that has not accepted by then is busy, and counts as listening. */
const connectTimeoutMs = 1000;

/** Oldest first. Removes discovery files of dead daemons. */
export async function discoverIn(directories: string[]): Promise<Discovered[]> {
  const paths = directories.flatMap(discoveryFilesIn);
  const found = await Promise.all(
    paths.map(async (path) => {
      const announcement = readAnnouncement(path);
      if (!announcement) return [];
      // Another daemon, without a discovery file, may listen on the path by now.
      if (await isListening(announcement.socket_path))
        return isAlive(announcement) ? [camelized(announcement)] : [];
      if (readAnnouncement(path)?.pid === announcement.pid) rmSync(path, { force: true }); // not a successor's
      return [];
    }),
  );
  return found.flat().sort((a, b) => a.startedAt.localeCompare(b.startedAt));
}

/** Undefined if the file holds no announcement, or one of an unknown format. */
const readAnnouncement = (path: string): Announcement | undefined =>
  announcementFrom(readDiscoveryFile(path));

/** The system may have given the pid to another process, so the start time is compared as well. */
const isAlive = ({ pid, start_time }: Announcement): boolean =>
  start_time === null || startTimeOf(pid, () => ({ execFileSync })) === start_time;

/** Only a refused connection proves that no daemon is listening. */
function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    const settle = (isListening: boolean) => {
      socket.destroy();
      resolve(isListening);
    };
    socket.setTimeout(connectTimeoutMs, () => settle(true));
    socket.on("connect", () => settle(true));
    socket.on("error", ({ code }: NodeJS.ErrnoException) =>
      settle(code !== "ENOENT" && code !== "ECONNREFUSED"),
    );
  });
}
