// Another user of this machine. Only root can be one for a test.

export const isRoot = process.getuid?.() === 0;

/** Nobody that a machine has by itself: what they run is the test's. */
export const anotherUid = 61_234;
export const strangerUid = 61_235;
/** For tests that use up what a user may have. */
export const crowdedUid = 61_236;

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
    timeout: 20_000,
  });
  return { code: result.exitCode, out: result.stdout.toString(), err: result.stderr.toString() };
}
