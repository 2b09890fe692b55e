// A limit on the size of files (ulimit -f): said by what needs a file, and no reason for a running daemon to end.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { shellBinary } from "../../support/program.ts";
import { failToStartShell, newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal } from "../../support/terminal.ts";

const remedy = "raise ulimit -f";
const env = (dir: string) => ({ PATH: process.env["PATH"]!, TRL_RUNTIME_DIR: dir, TRL_ANNOUNCE: "off" });

test("a daemon that can write no file says which, and what to do", () => {
  using dir = tempDir();
  const line = `ulimit -f 0; exec ${shellBinary} serve --socket-path ${dir.path}/trl.sock 2>&1 | cat`;
  const child = Bun.spawnSync(["bash", "-o", "pipefail", "-c", line], {
    env: env(dir.path),
    timeout: 20_000,
  });
  expect(child.exitCode).toBe(1);
  expect(child.stdout.toString()).toContain("trl.pid cannot be used as the pid file: EFBIG");
  expect(child.stdout.toString()).toContain(remedy);
  expect(readdirSync(dir.path)).toEqual([]);
});

test("where its log takes nothing either, its terminal has the reason", async () => {
  await using daemon = await startHere();
  using wire = await daemon.connect();
  using dir = tempDir();
  const serve = `${shellBinary} serve --announce off --socket-path ${dir.path}/trl.sock`;
  const terminal = await newTerminal(wire, {
    cols: 200,
    command: `(ulimit -f 0; exec ${serve} >${dir.path}/log 2>&1); echo "exit $?"; sleep 1000`,
  });
  const { screen } = await wire.call("pty.wait", {
    session_id: terminal.id,
    until: { text: "exit 1" },
    timeout_s: 20,
  });
  expect(screen!.lines!.join("\n")).toContain("cannot be used as the pid file: EFBIG");
});

needs("prlimit").test("a running daemon refuses what needs a file, and lives on", async () => {
  await using daemon = await startHere();
  using wire = await daemon.connect();
  const session = await newSession(wire, { stateful: false });
  const limit = (bytes: string) =>
    Bun.spawnSync(["prlimit", "--pid", `${daemon.pid}`, `--fsize=${bytes}:`]).exitCode;
  expect(limit("0")).toBe(0);
  const refused = await failToStartShell(wire);
  expect(refused).toMatchObject({ code: "SPAWN_FAILED", message: expect.stringContaining(remedy) });
  const bunPty = await wire.fail("pty.create", { driver: "bun-pty", command: "true" });
  expect(bunPty).toMatchObject({ code: "SPAWN_FAILED", message: expect.stringContaining(remedy) });
  expect(await session.out("echo alive")).toBe("alive");
  expect(limit("unlimited")).toBe(0);
  expect(await (await newSession(wire)).out("echo again")).toBe("again");
  expect(daemon.log()).not.toContain("internal error");
});
