// The daemons of this user on this machine: each has left a note of itself, and those that are dead are passed over.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createConnection } from "node:net";
import { startTimeOf } from "../platform/start-time.ts";
import { type Announcement, announcementFrom } from "../protocol/announcement.ts";
import { discoveryFilesIn, readDiscoveryFile } from "../util/discovery-files.ts";
import { type Camelized, camelized } from "./naming.ts";

/** One that answers. `connect({ socket: socketPath })` leads to it. */
export type Discovered = Camelized<Announcement>;

/** To be let in takes no time; where it does, somebody is there and busy. */
const knockMs = 1000;

/** The oldest first. Notes of daemons that are dead are removed. */
export async function discoverIn(directories: string[]): Promise<Discovered[]> {
  const paths = directories.flatMap(discoveryFilesIn);
  const found = await Promise.all(
    paths.map(async (path) => {
      const note = readNote(path);
      if (!note) return [];
      // Somebody else may listen there by now, who has left no note.
      if (await isListening(note.socket_path)) return isAlive(note) ? [camelized(note)] : [];
      if (readNote(path)?.pid === note.pid) rmSync(path, { force: true }); // not its successor's
      return [];
    }),
  );
  return found.flat().sort((a, b) => a.startedAt.localeCompare(b.startedAt));
}

/** Undefined where it is none, or not of a kind that we know. */
const readNote = (path: string): Announcement | undefined => announcementFrom(readDiscoveryFile(path));

/** Its pid may be another's by now. */
const isAlive = ({ pid, start_time }: Announcement): boolean =>
  start_time === null || startTimeOf(pid, () => ({ execFileSync })) === start_time;

/** Only a refusal shows that nobody is there. */
function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    const answer = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(knockMs, () => answer(true));
    socket.on("connect", () => answer(true));
    socket.on("error", ({ code }: NodeJS.ErrnoException) =>
      answer(code !== "ENOENT" && code !== "ECONNREFUSED"),
    );
  });
}
