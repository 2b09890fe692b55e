import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CheckReport } from "../../../src/cli/doctor/check.ts";
import { startDaemon } from "../../support/daemon.ts";
import { isAlive } from "../../support/processes.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { type TrlOptions, trl } from "../../support/trl.ts";
import { until } from "../../support/wait.ts";

/** Each check by its id, and the exit code. */
function examine(socketPath: string, options: TrlOptions = {}) {
  const { code, out, err } = trl(["doctor", "--json", "--socket-path", socketPath], options);
  expect(err).toBe("");
  const { checks } = JSON.parse(out) as { checks: CheckReport[] };
  const hasProblem = checks.some(({ status }) => status === "problem");
  expect(code).toBe(hasProblem ? 1 : 0);
  return Object.fromEntries(checks.map((check) => [check.id, check]));
}

test("a machine on which these tests run has shells, terminals and room", () => {
  using dir = tempDir();
  const checks = examine(join(dir.path, "trl.sock"));
  for (const id of ["version", "bun", "system", "shell-sh", "shell-bash", "driver-native", "driver-bun-pty"])
    expect(checks[id]).toMatchObject({ status: "ok" });
  for (const id of [
    "socket",
    "socket-directory",
    "token",
    "temporary-directory",
    "open-files",
    "docker",
    "ssh",
  ])
    expect(Object.keys(checks[id]!)).toEqual(["id", "group", "status", "summary", "detail", "remedy"]);
  expect(checks["shell-bash"]!.summary).toContain("keeps its state");
  expect(checks["socket"]).toMatchObject({ status: "note", remedy: expect.stringContaining("trl serve") });
});

test("a page for people, with colour only where it is wanted", () => {
  using dir = tempDir();
  const look = (env: Record<string, string>) =>
    trl(["doctor", "--socket-path", join(dir.path, "trl.sock")], { env }).out;
  const plain = look({});
  expect(plain).toMatch(/^program\n {2}ok {7}trl [\d.]+\n/);
  expect(plain).toMatch(/\n {2}note {5}no daemon is listening on .*\n {11}fix: trl serve/);
  expect(plain).toMatch(/\n\n(?:nothing is wrong|\d+ problems?)(?:, \d+ notes?)?\n$/);
  expect(plain).not.toContain("\x1b");
  expect(look({ FORCE_COLOR: "1" })).toContain("\x1b[32mok     \x1b[39m");
  expect(look({ FORCE_COLOR: "1", NO_COLOR: "1" })).not.toContain("\x1b");
});

test("a daemon that is there, and who could get at it", async () => {
  await using daemon = await startDaemon();
  const token = join(daemon.dir, "trl.token");
  const good = examine(daemon.socketPath);
  expect(good["socket"]).toMatchObject({
    status: "ok",
    summary: expect.stringContaining(`pid ${daemon.pid}`),
  });
  expect(good["token"]).toMatchObject({ status: "ok" });
  expect(good["socket-directory"]).toMatchObject({ status: "ok" });

  chmodSync(daemon.socketPath, 0o666);
  chmodSync(token, 0o644);
  const open = examine(daemon.socketPath);
  expect(open["socket"]).toMatchObject({ status: "problem", remedy: `chmod 600 ${daemon.socketPath}` });
  expect(open["token"]).toMatchObject({ status: "problem", remedy: expect.stringContaining(`rm ${token}`) });

  chmodSync(daemon.dir, 0o777);
  const exposed = examine(daemon.socketPath);
  expect(exposed["socket"]).toMatchObject({ status: "problem", remedy: expect.stringContaining("--socket") });
  expect(exposed["socket-directory"]).toMatchObject({
    status: "problem",
    summary: expect.stringContaining(daemon.dir),
    remedy: expect.stringContaining(`chmod go-w ${daemon.dir}`),
  });
  chmodSync(daemon.dir, 0o1777);
  expect(examine(daemon.socketPath)["socket-directory"]).toMatchObject({ status: "ok" });
});

test("a socket that is left over, and one that is none", async () => {
  await using daemon = await startDaemon();
  daemon.kill("SIGKILL");
  await daemon.exited;
  expect(examine(daemon.socketPath)["socket"]).toMatchObject({
    status: "note",
    summary: expect.stringContaining("but the socket exists"),
  });
  const file = join(daemon.dir, "file.sock");
  writeFileSync(file, "");
  expect(examine(file)["socket"]).toMatchObject({
    status: "problem",
    remedy: expect.stringContaining("remove it"),
  });
});

test("a daemon of another version, and one that does not answer", async () => {
  using dir = tempDir();
  const path = join(dir.path, "trl.sock");
  let answers = true;
  const old = Bun.listen({
    unix: path,
    socket: {
      data(socket, chunk) {
        for (const line of answers ? chunk.toString().trim().split("\n") : []) {
          const { id } = JSON.parse(line);
          socket.write(
            `${JSON.stringify({ id, ok: true, data: { version: "9.9.9", uptime_s: 1, pid: 77 } })}\n`,
          );
        }
      },
    },
  });
  chmodSync(path, 0o600);
  const ask = async () => {
    const child = Bun.spawn([
      join(import.meta.dir, "../../../dist/trl"),
      "doctor",
      "--json",
      "--socket-path",
      path,
    ]);
    const { checks } = JSON.parse(await new Response(child.stdout).text()) as { checks: CheckReport[] };
    return checks.find(({ id }) => id === "socket");
  };
  expect(await ask()).toMatchObject({ status: "note", remedy: expect.stringContaining("kill 77") });
  answers = false;
  expect(await ask()).toMatchObject({ status: "problem", summary: expect.stringContaining("within 2 s") });
  old.stop(true);
});

test("a program that hangs does not hang the doctor, and is ended", async () => {
  using dir = tempDir();
  const bin = join(dir.path, "bin");
  const pids = join(dir.path, "pids");
  mkdirSync(bin);
  writeFileSync(join(bin, "docker"), `#!/bin/sh\nsleep 1000 &\necho $$ $! >${pids}\nwait\n`);
  writeFileSync(join(bin, "ssh"), "#!/bin/sh\necho NoSSH_1.0 >&2\n");
  writeFileSync(join(bin, "kubectl"), "#!/no/such/interpreter\n");
  for (const name of ["docker", "ssh", "kubectl"]) chmodSync(join(bin, name), 0o755);
  const checks = examine(join(dir.path, "trl.sock"), { env: { PATH: `${bin}:/usr/bin:/bin` } });
  expect(checks["docker"]).toMatchObject({
    status: "note",
    summary: expect.stringContaining("did not answer"),
  });
  expect(checks["ssh"]).toMatchObject({ status: "ok", summary: "NoSSH_1.0" });
  expect(checks["kubectl"]).toMatchObject({
    status: "note",
    summary: expect.stringContaining("does not work"),
  });
  const started = readFileSync(pids, "utf8").trim().split(" ").map(Number);
  expect(started).toHaveLength(2);
  await until("both to be gone", () => !started.some(isAlive));
});

test("a shell that does not work, and no place for files", () => {
  using dir = tempDir();
  const bin = join(dir.path, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "fish"), "#!/bin/sh\nexit 3\n");
  chmodSync(join(bin, "fish"), 0o755);
  const checks = examine(join(dir.path, "trl.sock"), { env: { PATH: `${bin}:/usr/bin:/bin` } });
  expect(checks["shell-fish"]).toMatchObject({ status: "problem", remedy: expect.stringContaining(bin) });

  const nowhere = join(dir.path, "nowhere");
  const without = examine(join(dir.path, "trl.sock"), { env: { TMPDIR: nowhere, XDG_RUNTIME_DIR: nowhere } });
  expect(without["temporary-directory"]).toMatchObject({
    status: "problem",
    remedy: expect.stringContaining("TMPDIR"),
  });
  expect(without["runtime-directory"]).toMatchObject({ status: "note" });
  if (process.platform === "linux") expect(without["shell-sh"]).toMatchObject({ status: "ok" }); // in /dev/shm
  expect(existsSync(nowhere)).toBe(false);
});
