// The executable as a daemon: boot, second instance, stale files, signals, settings, log.
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { startDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { isAlive } from "../../support/processes.ts";
import { binary, shellBinary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";
import { Wire } from "../../support/wire.ts";

const serve = (...flags: string[]) =>
  Bun.spawnSync([binary, ...flags], {
    timeout: 10_000,
    env: { PATH: process.env["PATH"], TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"] },
  });

describe("a wrong command line exits with 64, as every verb does:", () => {
  test.each([
    ["an unknown flag", ["--no-such-flag"], {}],
    ["a word too many", ["word", "--max-sessions", "1"], {}],
    ["a number that is none", ["--max-sessions", "many"], {}],
    ["a choice that there is not", ["--pty-driver", "other"], {}],
    ["an address that is none", ["--http", "nowhere"], {}],
    ["a runtime that is none", ["--runtime", "gpu"], {}],
    ["a variable's value", [], { TRL_MAX_SESSIONS: "many" }],
    ["a configuration that is not there", ["--config", "/no/such/file"], {}],
  ])("%s", (_, words, env) => {
    using dir = tempDir();
    const child = Bun.spawnSync([binary, "serve", "--socket-path", join(dir.path, "x.sock"), ...words], {
      env: { PATH: process.env["PATH"]!, TRL_RUNTIME_DIR: dir.path, ...env },
      timeout: 10_000,
    });
    expect({ code: child.exitCode, said: child.stderr.toString() }).toEqual({
      code: 64,
      said: expect.stringContaining("trl: "),
    });
  });
});

describe("start", () => {
  test("with flags alone, as launchers do: socket, 0600, pid file, gone after SIGTERM", async () => {
    using dir = tempDir();
    const socket = join(dir.path, "x.sock");
    const child = Bun.spawn([binary, "--socket-path", socket], {
      env: process.env,
      stdio: ["ignore", "ignore", "ignore"],
    });
    await until("the socket", () => existsSync(socket));
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dir.path, "x.pid"), "utf8").trim()).toBe(String(child.pid));
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(existsSync(socket)).toBe(false);
    expect(existsSync(join(dir.path, "x.pid"))).toBe(false);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("ends cleanly on %s", async (signal) => {
    await using daemon = await startDaemon();
    daemon.kill(signal);
    expect(await daemon.exited).toBe(0);
    expect(existsSync(daemon.socketPath)).toBe(false);
  });

  test("by --socket-dir, --socket or the environment", async () => {
    using dir = tempDir();
    const inDir = join(dir.path, "made", "trl.sock");
    for (const [flags, env, path] of [
      [["--socket-dir", join(dir.path, "made")], {}, inDir],
      [["--socket", join(dir.path, "s.sock")], {}, join(dir.path, "s.sock")],
      [[], { TRL_SOCKET_PATH: join(dir.path, "e.sock") }, join(dir.path, "e.sock")],
    ] as const) {
      const child = Bun.spawn([binary, "serve", ...flags], {
        env: { TRL_RUNTIME_DIR: dir.path, ...env },
        stdio: ["ignore", "ignore", "ignore"],
      });
      await until("the socket", () => existsSync(path));
      child.kill();
      await child.exited;
    }
    expect(statSync(join(dir.path, "made")).mode & 0o777).toBe(0o700);
  });
});

describe("a second daemon", () => {
  test("refuses with a clear message and leaves the first alone", async () => {
    await using daemon = await startDaemon();
    const second = serve("--socket-path", daemon.socketPath);
    expect(second.exitCode).not.toBe(0);
    expect(second.stderr.toString()).toContain(`already running on ${daemon.socketPath} (pid ${daemon.pid})`);
    using wire = await daemon.connect();
    await wire.call("system.ping", {});
  });

  test("of many that start at once, exactly one lives", async () => {
    using dir = tempDir();
    const socket = join(dir.path, "x.sock");
    const children = Array.from({ length: 6 }, () =>
      Bun.spawn([binary, "--socket-path", socket], {
        env: process.env,
        stdio: ["ignore", "ignore", "ignore"],
      }),
    );
    await until(
      "the others to give up",
      () => children.filter((child) => child.exitCode !== null).length === 5,
    );
    using wire = await Wire.connect(socket);
    await wire.call("system.ping", {});
    for (const child of children) child.kill();
    await Promise.all(children.map((child) => child.exited));
  });

  test("can follow at once after the first was told to stop", async () => {
    using dir = tempDir();
    const socket = join(dir.path, "x.sock");
    const first = Bun.spawn([binary, "--socket-path", socket], {
      env: process.env,
      stdio: ["ignore", "ignore", "ignore"],
    });
    await until("the socket", () => existsSync(socket));
    const wire = await Wire.connect(socket);
    const session = await newSession(wire);
    wire.sendFrame({
      id: "r",
      method: "exec.run",
      params: { session_id: session.id, command: "trap '' TERM; sleep 9; sleep 9" },
    });
    await until("the command", async () => (await wire.call("system.stats", {})).running_commands === 1);
    first.kill();
    const second = Bun.spawn([binary, "--socket-path", socket], {
      env: process.env,
      stdio: ["ignore", "ignore", "ignore"],
    });
    expect(await first.exited).toBe(0);
    await until("the second one", async () => {
      using again = await Wire.connect(socket).catch(() => undefined);
      return again !== undefined;
    });
    expect(second.exitCode).toBe(null);
    second.kill();
    await second.exited;
  });
});

describe("what is in the way", () => {
  needs("linux").test(
    "a daemon that was killed: its socket, its files and its processes go, the next one serves",
    async () => {
      const first = await startDaemon();
      const wire = await first.connect();
      const session = await newSession(wire);
      const result = await session.run("setsid sleep 1000 & sleep 1000 &");
      const pids = result.leftovers.map(({ pid }) => pid);
      expect(pids.length).toBe(2);
      first.kill("SIGKILL");
      await first.exited;
      expect(existsSync(first.socketPath)).toBe(true);
      const second = Bun.spawn([binary, "--socket-path", first.socketPath], {
        env: process.env,
        stdio: ["ignore", "ignore", "pipe"],
      });
      await until("the second one", async () => {
        using again = await Wire.connect(first.socketPath).catch(() => undefined);
        return again !== undefined;
      });
      await until("the processes left to be dead", () => !pids.some(isAlive));
      const files = () => [
        ...new Bun.Glob(`trl-${first.pid}-*`).scanSync({ cwd: "/dev/shm", onlyFiles: false }),
      ];
      await until("its files to be gone", () => files().length === 0);
      second.kill();
      await second.exited;
      await first[Symbol.asyncDispose]();
    },
  );

  test("a file that is not a socket is left alone", () => {
    using dir = tempDir();
    const path = join(dir.path, "precious");
    writeFileSync(path, "data");
    const refused = serve("--socket-path", path);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr.toString()).toContain("not a socket");
    expect(readFileSync(path, "utf8")).toBe("data");
    symlinkSync(path, join(dir.path, "link.sock"));
    expect(serve("--socket-path", join(dir.path, "link.sock")).exitCode).toBe(1);
    expect(readFileSync(path, "utf8")).toBe("data");
  });

  test("a path too long, a directory that is missing, a value that is wrong: each is said", () => {
    expect(serve("--socket-path", `/tmp/${"x".repeat(200)}.sock`).stderr.toString()).toContain("too long");
    expect(serve("--socket-path", "/no/such/dir/x.sock").stderr.toString()).toContain("/no/such/dir");
    expect(serve("--max-sessions", "many").stderr.toString()).toContain(
      "--max-sessions needs a whole number",
    );
    expect(serve("--max-sesions", "5").stderr.toString()).toContain("--max-sessions?");
    expect(serve("--log-format", "xml").stderr.toString()).toContain("pretty, json");
    expect(serve("--env-file", "/no/such/file").stderr.toString()).toContain("--env-file");
  });
});

describe("files beside the socket", () => {
  test("that are another's are left alone", () => {
    using dir = tempDir();
    writeFileSync(join(dir.path, "precious"), "data");
    symlinkSync(join(dir.path, "precious"), join(dir.path, "a.pid"));
    expect(serve("--socket-path", join(dir.path, "a.sock")).exitCode).toBe(1);
    writeFileSync(join(dir.path, "b.pid"), "not a pid");
    expect(serve("--socket-path", join(dir.path, "b.sock")).stderr.toString()).toContain("no pid file");
    expect(readFileSync(join(dir.path, "precious"), "utf8")).toBe("data");
    expect(readFileSync(join(dir.path, "b.pid"), "utf8")).toBe("not a pid");
  });

  test("may be gone at the end", async () => {
    await using daemon = await startDaemon();
    unlinkSync(daemon.socketPath.replace(".sock", ".pid"));
    unlinkSync(daemon.socketPath);
    daemon.kill("SIGTERM");
    expect(await daemon.exited).toBe(0);
  });

  test("survive a cleaner: the run directory is made again", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const session = await newSession(wire);
    await session.run(`rm -rf /dev/shm/trl-${daemon.pid}-*`);
    await session.run("true");
    expect(await session.out("echo fine")).toBe("fine");
    await newSession(wire);
  });

  test("of a daemon elsewhere with the same relative path are not confused", async () => {
    using dir = tempDir();
    const start = (cwd: string) =>
      Bun.spawn([binary, "--socket-path", "x.sock"], {
        cwd,
        env: process.env,
        stdio: ["ignore", "ignore", "ignore"],
      });
    for (const name of ["a", "b"]) mkdirSync(join(dir.path, name));
    const [a, b] = ["a", "b"].map((name) => join(dir.path, name)) as [string, string];
    const killed = start(b);
    await until("b's socket", () => existsSync(join(b, "x.sock")));
    killed.kill("SIGKILL");
    await killed.exited;
    const first = start(a);
    await until("a's socket", () => existsSync(join(a, "x.sock")));
    using wire = await Wire.connect(join(a, "x.sock"));
    const session = await newSession(wire);
    const running = session.run("sleep 0.5; echo survived");
    const second = start(b);
    await until("b to answer", async () => {
      using again = await Wire.connect(join(b, "x.sock")).catch(() => undefined);
      return again !== undefined;
    });
    expect((await running).stdout).toBe("survived\n");
    for (const child of [first, second]) {
      child.kill();
      await child.exited;
    }
  });
});

test("nohup is respected", async () => {
  using dir = tempDir();
  const socket = join(dir.path, "x.sock");
  const child = Bun.spawn(["sh", "-c", `trap '' HUP; exec ${shellBinary} --socket-path ${socket}`], {
    env: process.env,
    stdio: ["ignore", "ignore", "ignore"],
  });
  await until("the socket", () => existsSync(socket));
  child.kill("SIGHUP");
  using wire = await Wire.connect(socket);
  await wire.call("system.ping", {});
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});

describe("settings", () => {
  test("--env-file is read, flags and environment win, and nothing is read by accident", async () => {
    using dir = tempDir();
    const file = join(dir.path, "vars");
    writeFileSync(file, "FROM_FILE='a b'\nBOTH=file\nTRL_MAX_SESSIONS=3\nTRL_SESSION_MAX_COMMANDS=9\n");
    await using daemon = await startDaemon({
      flags: ["--env-file", file],
      env: { BOTH: "env", TRL_SESSION_MAX_COMMANDS: "5" },
    });
    writeFileSync(join(daemon.dir, ".env"), "ACCIDENT=1\n");
    using wire = await daemon.connect();
    const { limits } = await wire.call("system.describe", {});
    expect(limits).toMatchObject({ max_sessions: 3, session_max_commands: 5 });
    const session = await newSession(wire);
    expect(await session.out('echo "$FROM_FILE $BOTH ${ACCIDENT-none}"')).toBe("a b env none");
  });

  test("a .env and a bunfig.toml in the directory it is started from have no effect", async () => {
    using dir = tempDir();
    writeFileSync(join(dir.path, ".env"), "ACCIDENT=1\nTRL_MAX_SESSIONS=1\n");
    writeFileSync(join(dir.path, "bunfig.toml"), 'preload = ["./evil.ts"]\n');
    writeFileSync(join(dir.path, "evil.ts"), "process.exit(77);\n");
    writeFileSync(join(dir.path, "package.json"), "{ broken");
    const socket = join(dir.path, "x.sock");
    const child = Bun.spawn([binary, "--socket-path", socket], {
      cwd: dir.path,
      env: { PATH: process.env["PATH"], TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"] },
      stdio: ["ignore", "ignore", "ignore"],
    });
    await until("the socket", () => existsSync(socket) || child.exitCode !== null);
    using wire = await Wire.connect(socket);
    expect((await wire.call("system.describe", {})).limits["max_sessions"]).toBe(64);
    const session = await newSession(wire);
    expect(await session.out("echo ${ACCIDENT-none}")).toBe("none");
    child.kill();
    await child.exited;
  });
});

describe("the log", () => {
  test("is one JSON object a line on request, on stderr", async () => {
    await using daemon = await startDaemon({
      flags: ["--log-format", "json", "--verbose"],
      env: { SECRET: "hunter2" },
    });
    using wire = await daemon.connect();
    const session = await newSession(wire, { env: { TOKEN: "hunter3" } });
    await session.run("echo $TOKEN", { stdin: "hunter4", env: { MORE: "hunter5" } });
    await until("the command in the log", () => daemon.log().includes("command ended"));
    const lines = daemon
      .log()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({
      level: "info",
      message: "ready",
      socket: daemon.socketPath,
      pid: daemon.pid,
    });
    expect(daemon.log()).not.toContain("hunter");
  });

  test("goes on being no problem when nobody reads it", async () => {
    using dir = tempDir();
    const socket = join(dir.path, "x.sock");
    const child = Bun.spawn(
      ["sh", "-c", `${shellBinary} --socket-path ${socket} --verbose 2>&1 | head -n 1 >/dev/null`],
      { env: process.env, stdio: ["ignore", "ignore", "ignore"] },
    );
    await until("the socket", () => existsSync(socket));
    using wire = await Wire.connect(socket);
    const session = await newSession(wire);
    for (let i = 0; i < 20; i++) expect(await session.out(`echo ${i}`)).toBe(String(i));
    process.kill((await wire.call("system.stats", {})).pid, "SIGTERM");
    await child.exited;
  });
});

needs("other users").test("runs as another user, where it is not root's", async () => {
  using dir = tempDir();
  chmodSync(dir.path, 0o1777);
  const socket = join(dir.path, "x.sock");
  const child = Bun.spawn(
    ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", binary, "--socket-path", socket],
    {
      env: {
        PATH: process.env["PATH"],
        TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"],
        HOME: "/nonexistent",
      },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  await until("the socket", () => existsSync(socket) || child.exitCode !== null);
  using wire = await Wire.connect(socket);
  const session = await newSession(wire);
  await session.run("cd /usr; x=1; setsid sleep 1000 &");
  expect(await session.out("id -u; pwd; echo $x")).toBe("65534\n/usr\n1");
  child.kill();
  expect(await child.exited).toBe(0);
});

test("--idle-exit-s: ends when neither a client nor a session is left", async () => {
  await using daemon = await startDaemon({ flags: ["--idle-exit-s", "0.5"] });
  const wire = await daemon.connect();
  const { session_id } = await wire.call("session.create", {});
  wire[Symbol.dispose]();
  await Bun.sleep(1500); // a session is there
  expect(isAlive(daemon.pid)).toBe(true);
  using later = await daemon.connect();
  await later.call("session.destroy", { session_id });
  await Bun.sleep(1000); // a client is
  expect(isAlive(daemon.pid)).toBe(true);
  later[Symbol.dispose]();
  expect(await daemon.exited).toBe(0);
  expect(daemon.log()).toContain("idle for 0.5 s");
});
