import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { methods } from "../../../src/protocol/methods.ts";
import { startDaemon } from "../../support/daemon.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { trl } from "../../support/trl.ts";

test("trl describe shows every method, with and without a daemon", async () => {
  await using daemon = await startDaemon({ flags: ["--max-sessions", "17"] });
  const asked = trl(["describe", "--socket-path", daemon.socketPath]);
  expect(asked.code).toBe(0);
  for (const [name, { summary }] of Object.entries(methods))
    expect(asked.out).toContain(`${name}  ${summary}`);
  expect(asked.out).toContain("session_id: string, force?: boolean");
  expect(asked.out).toMatch(/max_sessions +17\n/);
  expect(asked.out).not.toContain("\x1b");

  using dir = tempDir();
  const alone = trl(["describe", "--socket-path", join(dir.path, "none.sock")], {
    env: { TMPDIR: dir.path },
  });
  expect(alone).toMatchObject({ code: 0, err: "" });
  expect(alone.out).toBe(asked.out.replace(/(max_sessions +)17/, "$164"));
  expect(readdirSync(dir.path)).toEqual([]);
});

test("trl describe METHOD shows its fields", async () => {
  await using daemon = await startDaemon();
  const describe = (...words: string[]) => trl(["describe", "--socket-path", daemon.socketPath, ...words]);
  const { out } = describe("pty.wait");
  expect(out).toMatch(/^ {2}session_id +string +a session's id/m);
  expect(out).toMatch(/^ {2}until\.regex +string +optional; not empty$/m);
  expect(out).toMatch(/^ {2}screen\.cursor\.row +number$/m);
  expect(describe("session.create").out).toMatch(/^ {2}env +\{ NAME: string \| null \} +optional$/m);
  expect(describe("pty.subscribe").out).toContain("Frame of type gap, after the reply");
  expect(describe("pty.snapshto")).toMatchObject({ code: 64, out: "" });
  expect(describe("pty.snapshto").err).toContain("pty.snapshot?");
  expect(describe("constructor").code).toBe(64);
});

test("trl describe --json is what the daemon said", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const said = await wire.call("system.describe", {});
  const describe = (...words: string[]) =>
    JSON.parse(trl(["describe", "--json", "--socket-path", daemon.socketPath, ...words]).out);
  expect(describe()).toEqual(said);
  expect(describe("exec.run")).toEqual(said.methods["exec.run"]);
});
