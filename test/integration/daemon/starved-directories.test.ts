// What a daemon stands on is taken away: its directory, its executable, the shell, the home.
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { anotherUid } from "../../support/other-user.ts";
import { binary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

test("the directory that the daemon was started in is not missed", async () => {
  using dir = tempDir();
  const started = join(dir.path, "started-in");
  mkdirSync(started);
  const program = ["sh", "-c", `cd ${started}; exec "$@"`, "sh", binary];
  await using daemon = await startHere({ program });
  rmdirSync(started);
  using wire = await daemon.connect();
  expect(await (await newSession(wire)).out("pwd")).toBe("/tmp");
  const { session_id } = await wire.call("pty.create", { command: "pwd; echo end" });
  const { screen } = await wire.call("pty.wait", { session_id, until: { text: "end" }, timeout_s: 10 });
  expect(screen.lines?.[0]).toBe("/tmp");
});

needs("other users").test(
  "a directory that may not be entered is refused by its name; one that is closed later is told",
  async () => {
    await using daemon = await startHere({ uid: anotherUid });
    using closed = tempDir(); // root's alone
    using wire = await daemon.connect();
    for (const method of ["session.create", "pty.create"]) {
      const error = await wire.fail(method, { working_dir: closed.path });
      expect(error).toMatchObject({
        code: "INVALID_PARAMS",
        message: `working_dir: no permission to enter ${closed.path}`,
      });
    }
    const home = join(daemon.dir, "home");
    const session = await newSession(wire);
    await session.out(`mkdir ${home}; cd ${home}; x=1`);
    chmodSync(home, 0);
    // A shell that was started ahead may be there already; the one after it cannot get in. Each takes one such command.
    const shut = await until("a shell that cannot enter", async () => {
      const reply = await wire.request("exec.run", { session_id: session.id, command: "(echo $x)" });
      return reply["error"] as { code: string; message: string } | undefined;
    });
    expect(shut.code).toBe("SPAWN_FAILED");
    expect(shut.message).toContain("Permission denied");
    chmodSync(home, 0o700);
    expect(await session.out("echo $x; pwd")).toBe(`1\n${home}`);
  },
);

describe("the executable", () => {
  const change: [how: string, change: (path: string) => void][] = [
    ["deleted", (path) => rmSync(path)],
    [
      "replaced",
      (path) => {
        writeFileSync(`${path}.new`, "#!/bin/sh\nexit 3\n", { mode: 0o755 });
        renameSync(`${path}.new`, path);
      },
    ],
  ];
  /** A daemon whose executable is changed while it runs. */
  const useChanged = async (changed: (path: string) => void, use: (wire: Wire) => Promise<void>) => {
    using dir = tempDir();
    const copy = join(dir.path, "trl");
    linkOrCopy(binary, copy);
    await using daemon = await startHere({ program: [copy] });
    changed(copy);
    using wire = await daemon.connect();
    await use(wire);
  };

  test.each(change)("%s: sessions and both kinds of terminals go on", (_, changed) =>
    useChanged(changed, async (wire) => {
      expect(await (await newSession(wire)).out("x=1; echo $x")).toBe("1");
      for (const driver of ["native", "bun-pty"] as const) {
        await (await newTerminal(wire, { command: "echo end; read -r seen", driver })).waitFor("end");
      }
    }),
  );

  needs("sandbox").test.each(change)("%s: sandboxes go on", (_, changed) =>
    useChanged(changed, async (wire) => {
      expect(await (await newSession(wire, { isolation: { sandbox: {} } })).out("echo in")).toBe("in");
    }),
  );
});

/** It is large, and may be on another disk. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

test("a shell that is gone is named; the session has kept its state when it is back", async () => {
  using dir = tempDir();
  const shell = join(dir.path, "bash");
  const put = () => copyFileSync(Bun.which("bash")!, shell);
  put();
  await using daemon = await startHere({ flags: ["--shell", shell] });
  using wire = await daemon.connect();
  const session = await newSession(wire);
  await session.run("x=1");
  rmSync(shell);
  // One shell may have been started ahead, and runs builtins for as long as it lives; programs need none.
  const run = () => wire.request("exec.run", { session_id: session.id, command: "(true)" });
  const replies = [await run(), await run(), await run()];
  expect(replies.at(-1)!["error"].code).toBe("SPAWN_FAILED");
  expect(replies.at(-1)!["error"].message).toContain(`${shell} could not be started: ENOENT`);
  expect(await wire.fail("session.create", {})).toMatchObject({
    code: "INVALID_PARAMS",
    message: `shell: no such program: ${shell}`,
  });
  put();
  expect(await session.out("echo $x")).toBe("1");
});

test.each([[""], ["/nonexistent"], ["/proc"]])("HOME=%s: everything works that needs none", async (home) => {
  const program = home === "" ? ["env", "-u", "HOME", binary] : [binary];
  await using daemon = await startHere({ program, env: { HOME: home } });
  using wire = await daemon.connect();
  expect(await (await newSession(wire)).out("x=1; echo $x; pwd")).toBe("1\n/tmp");
  const { session_id } = await wire.call("pty.create", { command: "echo end" });
  await wire.call("pty.wait", { session_id, until: { text: "end" }, timeout_s: 10 });
});
