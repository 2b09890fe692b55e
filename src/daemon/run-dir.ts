// A private directory for the files of shells, in memory where the system has such a place.
import { tmpdir } from "node:os";
import { makeOwnDir } from "../platform/abandoned-dirs.ts";
import { failureOf } from "../util/failure.ts";
import { OptionError } from "./option-error.ts";

export function makeRunDir(asked: string | undefined, env: Record<string, string>): string {
  const candidates = asked === undefined ? [env["XDG_RUNTIME_DIR"], "/dev/shm", tmpdir()] : [asked];
  let why = "";
  for (const base of candidates) {
    if (!base?.startsWith("/")) continue;
    try {
      return makeOwnDir(base);
    } catch (error) {
      why = failureOf(error); // not there or not ours: the next one
    }
  }
  const tried = candidates.filter(Boolean).join(", ");
  throw new OptionError(`no place for the private directory (tried ${tried}): ${why}; see --run-dir`);
}
