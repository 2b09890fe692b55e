// Other users of this machine, for tests that declare `needs("other users")`.
import { hangMs } from "./wait.ts";

/** No machine has these users by itself, and processes of the tests that run at once rarely share one. */
const firstUid = 61_000 + (process.pid % 1300) * 3;
export const anotherUid = firstUid;
export const strangerUid = firstUid + 1;
/** For tests that use up what a user may have. */
export const crowdedUid = firstUid + 2;

/** Words to put before a command, for it to be run by that user. */
export const asUser = (uid: number | undefined): string[] =>
  uid === undefined
    ? []
    : ["setpriv", "--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--inh-caps=-all"];

/** A program that is run to its end by that user. */
export function runAs(uid: number, argv: string[], env: Record<string, string> = {}) {
  const result = Bun.spawnSync([...asUser(uid), ...argv], {
    env: { PATH: process.env["PATH"]!, HOME: "/nonexistent", ...env },
    cwd: "/",
    stdin: "ignore",
    timeout: hangMs,
  });
  return { code: result.exitCode, out: result.stdout.toString(), err: result.stderr.toString() };
}
