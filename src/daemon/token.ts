// The word that frontends prove themselves with: 256 bits in a file that only its owner can read, beside the socket.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { forOwnerAlone } from "../util/private-files.ts";
import { readTokenFile, tokenPath } from "../util/token-file.ts";
import { OptionError } from "./option-error.ts";

const tokenBytes = 32;

/** The environment's token where it has one, else the file's, which is made on the first start. */
export function obtainToken(socketPath: string, fromEnvironment: string | undefined): string {
  if (fromEnvironment) return fromEnvironment;
  const path = tokenPath(socketPath);
  const file = readTokenFile(path);
  return file.state === "good" ? file.token : makeToken(path);
}

/** For where nobody but us is to know one. */
export const freshToken = (): string => randomBytes(tokenBytes).toString("hex");

function makeToken(path: string): string {
  const token = freshToken();
  const fresh = `${path}.${randomBytes(4).toString("hex")}`;
  try {
    forOwnerAlone(() => writeFileSync(fresh, `${token}\n`, { flag: "wx" }));
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
