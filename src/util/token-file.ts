// The file with the token, for the daemon that makes it and for those who look for it.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { beside } from "./socket-path.ts";

/** Wins over the file. */
export const tokenVariable = "TRL_AUTH_TOKEN";

export const tokenPath = (socketPath: string): string => beside(socketPath, ".token");

export type TokenFile =
  | { state: "good"; token: string }
  | { state: "missing" | "not-a-file" | "not-ours" | "not-private" | "malformed" };

const wellFormed = /^[0-9a-f]{64}$/;

/** What somebody else could have read or written is no secret any more. */
export function readTokenFile(path: string): TokenFile {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return { state: "missing" };
  if (!stat.isFile()) return { state: "not-a-file" };
  if (stat.uid !== process.getuid?.()) return { state: "not-ours" };
  if ((stat.mode & 0o477) !== 0o400) return { state: "not-private" };
  // A link that came in its place meanwhile is not followed.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (fstatSync(fd).ino !== stat.ino) return { state: "not-ours" };
    const token = stat.size > fileBytesMax ? "" : readFileSync(fd, "utf8").trim();
    return wellFormed.test(token) ? { state: "good", token } : { state: "malformed" };
  } finally {
    closeSync(fd);
  }
}

const fileBytesMax = 1024;
