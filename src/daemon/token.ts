// The word that frontends prove themselves with: 256 bits in a file that only its owner can read, beside the socket.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { beside } from "../util/socket-path.ts";
import { OptionError } from "./option-error.ts";

/** Wins over the file. */
export const tokenVariable = "TRL_AUTH_TOKEN";

const tokenBytes = 32;
const wellFormed = /^[0-9a-f]{64}$/;

/** The environment's token where it has one, else the file's, which is made on the first start. */
export function obtainToken(socketPath: string, fromEnvironment: string | undefined): string {
  if (fromEnvironment) return fromEnvironment;
  const path = tokenPath(socketPath);
  return readToken(path) ?? makeToken(path);
}

export const tokenPath = (socketPath: string): string => beside(socketPath, ".token");

/** What somebody else could have read or written is no secret any more. */
function readToken(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  const isPrivate = stat?.isFile() && stat.uid === process.getuid?.() && (stat.mode & 0o477) === 0o400;
  if (!isPrivate) return undefined;
  const token = readFileSync(path, "utf8").trim();
  return wellFormed.test(token) ? token : undefined;
}

/** For where nobody but us is to know one. */
export const freshToken = (): string => randomBytes(tokenBytes).toString("hex");

function makeToken(path: string): string {
  const token = freshToken();
  const fresh = `${path}.${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(fresh, `${token}\n`, { mode: 0o600, flag: "wx" });
    chmodSync(fresh, 0o600); // a umask may have taken from it
    renameSync(fresh, path); // never half written, and in place of whatever is there
  } catch (error) {
    rmSync(fresh, { force: true });
    throw new OptionError(`the token's file cannot be made: ${(error as Error).message}`);
  }
  return token;
}

/** Takes the same time for every wrong word, whatever its length. */
export function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  const right = digest(token);
  return (given) => timingSafeEqual(digest(given), right);
}
