// A disk that is full or read-only: said by who needs it, nothing half done, and all as before when there is room again.
import { expect } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { anotherUid } from "../../support/other-user.ts";
import { shellBinary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { cpuShare, idleShareMax, smallDisk } from "../../support/starved.ts";
import { trl } from "../../support/trl.ts";
import { until } from "../../support/wait.ts";
import { Wire } from "../../support/wire.ts";

needs("mount").test(
  "a full disk: commands are refused by name, sessions are kept, and all works again",
  async () => {
    using disk = smallDisk();
    {
      await using daemon = await startHere({ flags: ["--run-dir", disk.path] });
      using wire = await daemon.connect();
      const session = await newSession(wire);
      await session.run("cd /usr; x=1");
      disk.fill();
      // Long: what is removed after the last command makes room for a short one.
      const command = `echo $x # ${"x".repeat(200_000)}`;
      const refused = await wire.fail("exec.run", { session_id: session.id, command });
      expect(refused.code).toBe("SPAWN_FAILED");
      expect(refused.message).toContain("ENOSPC");
      expect(await cpuShare(daemon.pid, 300)).toBeLessThan(idleShareMax);
      await wire.call("pty.create", { session_id: "needs-none", command: "sleep 1000" });
      disk.empty();
      expect(await session.out("echo $x; pwd")).toBe("1\n/usr");
      expect(daemon.log()).not.toContain("internal error");
    }
    expect(readdirSync(disk.path)).toEqual([]);
  },
);

needs("other users").test("a private directory that cannot be written to: the same", async () => {
  await using daemon = await startHere({ uid: anotherUid, flags: ["--run-dir", "."] });
  using wire = await daemon.connect();
  const session = await newSession(wire);
  await session.run("cd /usr; x=1");
  const [runDir] = readdirSync(daemon.dir).filter((name) => name.startsWith(`trl-${daemon.pid}-`));
  chmodSync(join(daemon.dir, runDir!), 0o500);
  const create = await wire.fail("session.create", {});
  expect(create.code).toBe("SPAWN_FAILED");
  expect(create.message).toContain("EACCES");
  // One shell may have been started ahead, and runs builtins for as long as it lives.
  const error = await until("a command to be refused", async () => {
    const reply = await wire.request("exec.run", { session_id: session.id, command: "echo $x | cat" });
    return reply["error"] as { code: string; message: string } | undefined;
  });
  expect(error.code).toBe("SPAWN_FAILED");
  expect(error.message).toContain("EACCES");
  chmodSync(join(daemon.dir, runDir!), 0o700);
  expect(await session.out("echo $x; pwd")).toBe("1\n/usr");
  expect(daemon.log()).not.toContain("internal error");
});

needs("mount").test(
  "a command that fills the disk costs the session what it changed, and no more",
  async () => {
    using disk = smallDisk();
    await using daemon = await startHere({ flags: ["--run-dir", disk.path] });
    using wire = await daemon.connect();
    const session = await newSession(wire);
    await session.run("cd /usr; x=1; f() { echo f; }");
    const filling = await session.run(`x=2; cd /etc; cat /dev/zero >${disk.path}/fill; echo done`);
    expect(filling.stdout).toBe("done\n");
    disk.empty();
    expect(await session.out("echo $x; pwd; f")).toBe("1\n/usr\nf");
  },
);

needs("mount").test("a daemon whose files have no room says so, and leaves nothing", () => {
  using disk = smallDisk();
  disk.fill();
  const serve = (...flags: string[]) => trl(["serve", ...flags], { env: { TRL_ANNOUNCE: "off" } });
  const full = serve("--socket-path", join(disk.path, "trl.sock"));
  expect(full).toMatchObject({ code: 1, out: "" });
  expect(full.err).toContain("trl.pid cannot be used as the pid file: ENOSPC");
  expect(readdirSync(disk.path)).toEqual(["fill"]);
  disk.makeReadOnly(true);
  const readOnly = serve("--socket-path", join(disk.path, "trl.sock"));
  expect(readOnly).toMatchObject({ code: 1 });
  expect(readOnly.err).toContain("EROFS");
  const dir = serve("--socket-dir", join(disk.path, "dir"));
  expect(dir).toMatchObject({ code: 1 });
  expect(dir.err).toContain("--socket-dir: EROFS");
});

needs("mount").test("no private directory to be made is said with the place and the reason", () => {
  using disk = smallDisk();
  using place = smallDisk();
  disk.makeReadOnly(true);
  const socketPath = join(place.path, "trl.sock");
  const { code, err } = trl(["serve", "--socket-path", socketPath, "--run-dir", disk.path]);
  expect(code).toBe(1);
  expect(err).toContain(`the private directory cannot be made (tried ${disk.path}): EROFS`);
  expect(readdirSync(place.path)).toEqual([]);
});

needs("mount").test("a log on a full disk is no reason to stop, and goes on when there is room", async () => {
  using disk = smallDisk();
  const logFile = join(disk.path, "log");
  const socketPath = join(disk.path, "trl.sock");
  const line = `exec ${shellBinary} serve --socket-path ${socketPath} --verbose --announce off 2>>${logFile}`;
  const child = Bun.spawn(["sh", "-c", line], { stdin: "ignore", env: process.env });
  await until("the socket", () => existsSync(socketPath));
  using wire = await Wire.connect(socketPath);
  const session = await newSession(wire);
  disk.fill();
  for (let count = 0; count < 5; count++) expect(await session.out(`echo ${count}`)).toBe(String(count));
  expect(await cpuShare(child.pid, 300)).toBeLessThan(idleShareMax);
  disk.empty();
  const { command_id } = await session.run("true");
  await until("the log to go on", () => readFileSync(logFile, "utf8").includes(command_id));
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});
