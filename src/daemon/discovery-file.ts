// A daemon's note of itself, for those who look for one: whole from the first moment, and gone with it.

import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Announcement } from "../protocol/announcement.ts";
import { withPrivateUmask } from "../util/private-files.ts";
import { randomHex } from "../util/random.ts";
import { makeOwnDir } from "../util/runtime-dir.ts";

/** Gives what withdraws it. Throws where the directory is not ours to write to. */
export function announce(directory: string, announcement: Announcement): () => void {
  makeOwnDir(dirname(directory));
  makeOwnDir(directory);
  // One daemon a socket, one note a socket: whoever comes after a killed one takes its place.
  const name = new Bun.CryptoHasher("sha256").update(announcement.socket_path).digest("hex").slice(0, 16);
  const path = join(directory, `${name}.json`);
  const fresh = join(directory, `.${name}.${randomHex(4)}`);
  try {
    withPrivateUmask(() => writeFileSync(fresh, `${JSON.stringify(announcement)}\n`, { flag: "wx" }));
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
  return () => {
    if (isOurs(path, announcement)) rmSync(path, { force: true });
  };
}

function isOurs(path: string, { pid, started_at }: Announcement): boolean {
  try {
    const note = JSON.parse(readFileSync(path, "utf8")) as Announcement;
    return note.pid === pid && note.started_at === started_at;
  } catch {
    return false;
  }
}
