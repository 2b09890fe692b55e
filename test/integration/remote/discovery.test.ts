// How daemons are found by those of the same user: notes in a directory of theirs.
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { connect, discover } from "../../../src/client/connect.ts";
import { version } from "../../../src/util/version.ts";
import { startDaemon } from "../../support/daemon.ts";
import { binary } from "../../support/program.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";

function place() {
  const dir = tempDir();
  const runtime = join(dir.path, "runtime");
  const notes = join(runtime, "daemons");
  return {
    dir: dir.path,
    env: { TRL_RUNTIME_DIR: runtime },
    runtime,
    notes,
    [Symbol.dispose]: dir[Symbol.dispose],
  };
}

describe("a daemon", () => {
  test("is found while it lives, by what it is and where", async () => {
    using here = place();
    {
      await using first = await startDaemon({ env: here.env, flags: ["--http", "127.0.0.1:0"] });
      await using second = await startDaemon({ env: here.env });
      const found = await discover([here.notes]);
      expect(found.map(({ pid }) => pid)).toEqual([first.pid, second.pid]);
      expect(found[0]).toMatchObject({
        socketPath: first.socketPath,
        version,
        labels: [],
        platform: { os: process.platform, arch: process.arch },
        httpUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        capabilities: { transports: ["unix", "http", "websocket"] },
      });
      expect(found[1]).toMatchObject({ httpUrl: null, capabilities: { transports: ["unix"] } });
      await using trl = await connect({ socket: found[1]!.socketPath });
      expect((await trl.call("system.stats", {})).pid).toBe(second.pid);
      expect(readFileSync(join(here.notes, readdirSync(here.notes)[0]!), "utf8")).not.toContain("token");
    }
    expect(readdirSync(here.notes)).toEqual([]);
    expect(await discover([here.notes])).toEqual([]);
  });

  test("that was killed is passed over, and its note removed", async () => {
    using here = place();
    await using other = await startDaemon({ env: here.env });
    const killed = await startDaemon({ env: here.env });
    killed.kill("SIGKILL");
    await killed.exited;
    expect(readdirSync(here.notes)).toHaveLength(2);
    expect((await discover([here.notes])).map(({ pid }) => pid)).toEqual([other.pid]);
    expect(readdirSync(here.notes)).toHaveLength(1);
    await killed[Symbol.asyncDispose]();
  });

  test("that was killed is not taken for one that listens there without a note, nor for one that has its pid", async () => {
    using here = place();
    await using silent = await startDaemon({ env: here.env, flags: ["--announce", "off"] });
    await using told = await startDaemon({ env: here.env });
    const [name] = readdirSync(here.notes);
    const note = JSON.parse(readFileSync(join(here.notes, name!), "utf8"));
    const leave = (file: string, more: object) =>
      writeFileSync(join(here.notes, file), JSON.stringify({ ...note, ...more }));
    leave("dead.json", { socket_path: silent.socketPath, pid: 2 ** 22 + 1 });
    leave("reused.json", { socket_path: silent.socketPath, start_time: "1" });
    expect((await discover([here.notes])).map(({ socketPath }) => socketPath)).toEqual([told.socketPath]);
  });

  test("takes the note of the one that was killed on its socket", async () => {
    using here = place();
    const socket = join(here.dir, "trl.sock");
    const start = () =>
      Bun.spawn([binary, "serve", "--socket-path", socket, "--allow-root"], {
        env: { PATH: process.env["PATH"], ...here.env },
        stdio: ["ignore", "ignore", "ignore"],
      });
    const pids = async () => (await discover([here.notes])).map(({ pid }) => pid);
    const first = start();
    await until("the first", async () => (await pids())[0] === first.pid);
    first.kill("SIGKILL");
    await first.exited;
    const second = start();
    await until("the second", async () => (await pids())[0] === second.pid);
    expect(readdirSync(here.notes)).toHaveLength(1);
    second.kill();
    await second.exited;
    expect(readdirSync(here.notes)).toEqual([]);
  });

  test("that is private to somebody is not for others, unless it is asked to be", async () => {
    using here = place();
    const run = Bun.spawnSync([binary, "run", "--", `ls ${here.runtime}`], {
      env: { PATH: process.env["PATH"], TRL_SOCKET_PATH: join(here.dir, "none.sock"), ...here.env },
    });
    expect(run.stderr.toString()).toContain("No such file");
    await using silent = await startDaemon({ env: here.env, flags: ["--announce", "off"] });
    expect(silent.log()).toContain("ready");
    const piped = (name: string, ...flags: string[]) =>
      Bun.spawn([binary, "--stdin", "--allow-root", "--socket-path", join(here.dir, name), ...flags], {
        env: { PATH: process.env["PATH"], ...here.env },
        stdio: ["pipe", "ignore", "ignore"],
      });
    const unasked = piped("unasked.sock");
    await until("its socket", () => existsSync(join(here.dir, "unasked.sock")));
    const asked = piped("asked.sock", "--announce", "on");
    const found = await until("the other", async () => {
      const all = await discover([here.notes]);
      return all.length > 0 ? all : undefined;
    });
    expect(found.map(({ pid }) => pid)).toEqual([asked.pid]);
    for (const child of [asked, unasked]) child.stdin.end();
    await Promise.all([asked.exited, unasked.exited]);
    const { exitCode, stderr } = Bun.spawnSync([binary, "--stdin", "--announce", "on"], { env: here.env });
    expect(exitCode).toBe(64);
    expect(stderr.toString()).toContain("--announce on needs a socket");
  });
});

describe("the directory", () => {
  test("is its owner's alone, also where it was not", async () => {
    using here = place();
    mkdirSync(here.runtime, { mode: 0o777 });
    chmodSync(here.runtime, 0o777);
    await using daemon = await startDaemon({ env: here.env });
    expect(statSync(here.runtime).mode & 0o777).toBe(0o700);
    expect(statSync(here.notes).mode & 0o777).toBe(0o700);
    const [note] = readdirSync(here.notes);
    expect(statSync(join(here.notes, note!)).mode & 0o777).toBe(0o600);
    expect(daemon.log()).not.toContain("cannot find");
  });

  test("that is a link is not used, neither to write nor to read", async () => {
    using here = place();
    using elsewhere = tempDir();
    symlinkSync(elsewhere.path, here.runtime);
    await using daemon = await startDaemon({ env: here.env });
    expect(daemon.log()).toContain(`${here.runtime} is not a directory of this user`);
    expect(readdirSync(elsewhere.path)).toEqual([]);
    await using real = await startDaemon();
    const link = join(here.dir, "link");
    symlinkSync(join(real.dir, "daemons"), link);
    expect(await discover([join(real.dir, "daemons")])).toHaveLength(1);
    expect(await discover([link])).toEqual([]);
  });

  test("may hold what is no note; that is left alone", async () => {
    using here = place();
    await using daemon = await startDaemon({ env: here.env });
    writeFileSync(join(here.notes, "broken.json"), "{");
    writeFileSync(join(here.notes, "other.json"), '{"pid":1}');
    writeFileSync(join(here.notes, "huge.json"), "[".repeat(300_000));
    symlinkSync("/etc/passwd", join(here.notes, "link.json"));
    mkdirSync(join(here.notes, "dir.json"));
    Bun.spawnSync(["mkfifo", join(here.notes, "pipe.json")]);
    expect((await discover([here.notes])).map(({ pid }) => pid)).toEqual([daemon.pid]);
    expect(readdirSync(here.notes)).toHaveLength(7);
  });

  test("need not be there", async () => {
    expect(await discover(["/nowhere/at/all"])).toEqual([]);
  });
});
