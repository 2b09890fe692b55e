// The word that frontends prove themselves with: 256 bits in a file that only its owner can read, beside the socket.

import { renameSync, rmSync, writeFileSync } from "node:fs";
import { failureOf } from "../util/failure.ts";
import { withPrivateUmask } from "../util/private-files.ts";
import { randomHex } from "../util/random.ts";
import { readTokenFile, type TokenFile, tokenPath, tokenVariable } from "../util/token-file.ts";
import { OptionError } from "./option-error.ts";

const tokenBytes = 32;

/** The environment's token where it has one, else the file's, which is made on the first start. */
export function obtainToken(socketPath: string, fromEnvironment: string | undefined): string {
  if (fromEnvironment) return fromEnvironment;
  const path = tokenPath(socketPath);
  const file = readTokenFile(path);
  if (file.state === "good") return file.token;
  if (replaceable.has(file.state)) return makeToken(path);
  const remedy = `choose another --socket-path, or set ${tokenVariable}`;
  throw new OptionError(`${cannotBeMade}: ${path} exists and is no token of this user; ${remedy}`);
}

/** Nothing is lost with them. All else is somebody's own file that happens to have the name. */
const replaceable = new Set<TokenFile["state"]>(["missing", "empty", "not-private"]);

const cannotBeMade = "the token's file cannot be made";

/** For where nobody but us is to know one. */
export const freshToken = (): string => randomHex(tokenBytes);

function makeToken(path: string): string {
  const token = freshToken();
  const fresh = `${path}.${randomHex(4)}`;
  try {
    withPrivateUmask(() => writeFileSync(fresh, `${token}\n`, { flag: "wx" }));
    renameSync(fresh, path); // never half written
  } catch (error) {
    rmSync(fresh, { force: true });
    throw new OptionError(`${cannotBeMade}: ${failureOf(error)}`);
  }
  return token;
}

/** Takes the same time for every wrong word, whatever its length. */
export function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  const right = digest(token);
  return (given) => crypto.timingSafeEqual(digest(given), right);
}
