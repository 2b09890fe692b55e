import { expect, test } from "bun:test";
import { chmodSync, existsSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon } from "../../support/daemon.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { trl } from "../../support/trl.ts";

test("trl token prints what the daemon asks for", async () => {
  await using daemon = await startDaemon({ flags: ["--http", "127.0.0.1:0"] });
  const socket = ["--socket-path", daemon.socketPath];
  const { code, out } = trl(["token", ...socket]);
  expect(code).toBe(0);
  const url = /http=(http:\S+)/.exec(daemon.log())![1]!;
  const metrics = await fetch(new URL("/metrics", url), {
    headers: { Authorization: `Bearer ${out.trim()}` },
  });
  expect(metrics.status).toBe(200);
  const path = join(daemon.dir, "trl.token");
  expect(trl(["token", "--path", ...socket]).out).toBe(`${path}\n`);
  expect(JSON.parse(trl(["token", "--json", ...socket]).out)).toEqual({
    token: out.trim(),
    source: "file",
    path,
  });
  const fromEnvironment = { env: { TRL_AUTH_TOKEN: "mine" } };
  expect(trl(["token", ...socket], fromEnvironment).out).toBe("mine\n");
  expect(JSON.parse(trl(["token", "--json", ...socket], fromEnvironment).out).source).toBe("environment");
});

test("trl token makes and changes nothing, and says why there is none", () => {
  using dir = tempDir();
  const path = join(dir.path, "trl.token");
  const token = (...words: string[]) => trl(["token", "--socket-path", join(dir.path, "trl.sock"), ...words]);
  expect(token()).toMatchObject({ code: 77, out: "" });
  expect(token().err).toContain("trl serve");
  expect(existsSync(path)).toBe(false);
  expect(JSON.parse(token("--json").err)).toMatchObject({ error: { code: "AUTH_FAILED" } });

  writeFileSync(path, `${"a".repeat(64)}\n`, { mode: 0o644 });
  chmodSync(path, 0o644);
  expect(token()).toMatchObject({ code: 77, out: "" });
  expect(token().err).toContain("others may read");
  expect(statSync(path).mode & 0o777).toBe(0o644);
  chmodSync(path, 0o600);
  expect(token().out).toBe(`${"a".repeat(64)}\n`);
  writeFileSync(path, "something else\n");
  expect(token().err).toContain("holds no token");
  symlinkSync(path, join(dir.path, "link.token"));
  expect(trl(["token", "--socket-path", join(dir.path, "link.sock")]).err).toContain("no plain file");
});
