// The daemon's files are its owner's alone, whatever umask it was started with and whatever becomes of it.
import { describe, expect, test } from "bun:test";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { anotherUid, asUser } from "../../support/other-user.ts";
import { binary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";

/** Every entry below it with its mode; what a command makes there is the command's. */
function modesBelow(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const at = join(path, entry.name);
    const mode = (lstatSync(at).mode & 0o777).toString(8);
    return [
      `${entry.isDirectory() ? "directory" : "file"} ${mode}`,
      ...(entry.isDirectory() ? modesBelow(at) : []),
    ];
  });
}

describe.each(["000", "777"])("with a umask of %s", (umask) => {
  const works = async (uid?: number) => {
    const program = ["sh", "-c", `umask ${umask}; exec "$@"`, "sh", binary];
    const options = uid === undefined ? {} : { uid };
    // A bare name is made below the directory that the daemon is started in.
    await using daemon = await startHere({
      ...options,
      program,
      flags: ["--run-dir", "."],
      env: { TRL_RUNTIME_DIR: "announcements" },
    });
    using wire = await daemon.connect();
    const session = await newSession(wire);
    expect(await session.out("umask")).toBe(`0${umask}`); // a command's files are not the daemon's business
    await wire.call("exec.stream", { session_id: session.id, command: `sleep 1000 # ${"x".repeat(9000)}` });
    const modes = modesBelow(daemon.dir);
    expect(modes.length).toBeGreaterThan(8);
    expect([...new Set(modes)].sort()).toEqual(["directory 700", "file 600"]);
    const found = Bun.spawnSync([...asUser(uid), binary, "ping", "--socket-path", daemon.socketPath], {
      stdin: "ignore",
    });
    expect(found.exitCode).toBe(0);
  };

  test("all files are 0600 and all directories 0700, and the daemon works", () => works());
  needs("other users").test("and so it is as another user", () => works(anotherUid));
});

test("after its end only the token is left, and after kill -9 nothing that others could read", async () => {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await using daemon = await startHere({ flags: ["--run-dir", "."] });
    using wire = await daemon.connect();
    await newSession(wire);
    daemon.kill(signal);
    await daemon.exited;
    const left = [...new Bun.Glob("**").scanSync({ cwd: daemon.dir, dot: true })];
    if (signal === "SIGTERM") expect(left).toEqual(["trl.token"]);
    // Within a directory that is closed, a shell that was left alone may write as it likes.
    const outermost = readdirSync(daemon.dir).map((name) => lstatSync(join(daemon.dir, name)));
    for (const entry of outermost) expect(entry.mode & 0o077).toBe(0);
  }
});
