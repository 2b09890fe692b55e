// The token that clients authenticate with: 256 random bits in a file beside the socket that only its owner can read.
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { failureOf } from "../util/failure.ts";
import { withPrivateUmask } from "../util/private-files.ts";
import { randomHex } from "../util/random.ts";
import { readTokenFile, type TokenFile, tokenPath, tokenVariable } from "../util/token-file.ts";
import { OptionError } from "./option-error.ts";

const tokenBytes = 32;

/** The token of the environment, or else that of the file, which the first start creates. */
export function obtainToken(socketPath: string, fromEnvironment: string | undefined): string {
  if (fromEnvironment) return fromEnvironment;
  const path = tokenPath(socketPath);
  const file = readTokenFile(path);
  if (file.state === "good") return file.token;
  if (replaceable.has(file.state)) return makeToken(path);
  const remedy = `choose another --socket-path, or set ${tokenVariable}`;
  throw new OptionError(`${cannotBeMade}: ${path} exists and is no token of this user; ${remedy}`);
}

/** States of a token file that may be overwritten without loss. Any other file is not trl's, and stays. */
const replaceable = new Set<TokenFile["state"]>(["missing", "empty", "not-private"]);

const cannotBeMade = "the token's file cannot be made";

/** A token that is in no file. */
export const freshToken = (): string => randomHex(tokenBytes);

function makeToken(path: string): string {
  const token = freshToken();
  const temporary = `${path}.${randomHex(4)}`;
  try {
    withPrivateUmask(() => writeFileSync(temporary, `${token}\n`, { flag: "wx" }));
    renameSync(temporary, path); // so that no reader sees a partial file
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new OptionError(`${cannotBeMade}: ${failureOf(error)}`);
  }
  return token;
}

/** Compares in constant time, for tokens of any length. */
export function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  const expected = digest(token);
  return (given) => crypto.timingSafeEqual(digest(given), expected);
}
