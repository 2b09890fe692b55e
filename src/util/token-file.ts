// The token file: its path and its checks, for the daemon that creates it and the clients that read it.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { beside } from "./socket-path.ts";

/** Takes precedence over the file. */
export const tokenVariable = "TRL_AUTH_TOKEN";

export const tokenPath = (socketPath: string): string => beside(socketPath, ".token");

export type TokenFile =
  | { state: "good"; token: string }
  | { state: "missing" | "not-a-file" | "not-ours" | "not-private" | "unreadable" | "empty" | "malformed" };

const wellFormed = /^[0-9a-f]{64}$/;

/** "good" requires that no other user could have read or written the file. */
export function readTokenFile(path: string): TokenFile {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return { state: "missing" };
  if (!stat.isFile()) return { state: "not-a-file" };
  if (stat.uid !== process.getuid?.()) return { state: "not-ours" };
  const token = textOf(path, stat);
  if (token === undefined) return { state: "unreadable" };
  if (token !== "" && !wellFormed.test(token)) return { state: "malformed" };
  if ((stat.mode & 0o477) !== 0o400) return { state: "not-private" };
  return token === "" ? { state: "empty" } : { state: "good", token };
}

/** Reads the file that was checked: not a link that has replaced it, and no more than a token needs. */
function textOf(path: string, { ino }: Stats): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(fd);
    if (stat.ino !== ino) return undefined;
    return stat.size > fileBytesMax ? "too large" : readFileSync(fd, "utf8").trim();
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

const fileBytesMax = 1024;
