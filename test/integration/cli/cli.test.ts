// The executable as people and scripts use it.
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../../package.json";
import { verbs } from "../../../src/cli/commands.ts";
import { quoteWords } from "../../../src/cli/shell-words.ts";
import { startDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { binary, shellBinary } from "../../support/program.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { hangMs, until } from "../../support/wait.ts";

function trl(words: string[], options: { env?: Record<string, string>; cwd?: string } = {}) {
  const result = Bun.spawnSync([binary, ...words], {
    env: {
      PATH: process.env["PATH"],
      TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"],
      HOME: process.env["HOME"],
      ...options.env,
    } as Record<string, string>,
    cwd: options.cwd ?? "/tmp",
    timeout: hangMs,
  });
  return { code: result.exitCode, out: result.stdout.toString(), err: result.stderr.toString() };
}

describe("help and version", () => {
  test("are on stdout and succeed", () => {
    expect(trl(["--version"])).toEqual({ code: 0, out: `trl ${manifest.version}\n`, err: "" });
    const general = trl(["--help"]);
    expect(general.code).toBe(0);
    for (const verb of Object.keys(verbs)) {
      expect(general.out).toContain(`\n  ${verb}`);
      const help = trl([verb, "--help"]);
      expect(help.out).toContain(`Usage: trl ${verb === "serve" ? "[serve]" : verb}`);
      expect(trl(["help", verb]).out).toBe(help.out);
    }
  });

  test("a mistake gets a hint on stderr and exit code 64", () => {
    expect(trl(["pign"])).toEqual({
      code: 64,
      out: "",
      err: 'trl: there is no command "pign"\n     is it meant to be "trl ping"?\n',
    });
    expect(trl(["ping", "--sokcet-path", "x"]).err).toContain("--socket-path?");
    expect(trl(["run"]).err).toContain("for example");
    expect(trl(["run", "--timeout", "soon", "--", "true"]).code).toBe(64);
  });

  test("no daemon is said with what to do", () => {
    const result = trl(["ping", "--socket-path", "/tmp/no-such.sock"]);
    expect(result.code).toBe(69);
    expect(result.err).toContain("trl serve");
  });
});

describe("trl ping and stats", () => {
  test("show the daemon", async () => {
    await using daemon = await startDaemon();
    const socket = ["--socket-path", daemon.socketPath];
    expect(trl(["ping", ...socket]).out).toMatch(/^trl [\d.]+ on .*: up \d+ s, answered in [\d.]+ ms\n$/);
    expect(trl(["stats", ...socket]).out).toContain("active sessions");
    expect(JSON.parse(trl(["stats", "--json", ...socket]).out)).toMatchObject({ pid: daemon.pid });
    expect(trl(["ping"], { env: { TRL_SOCKET_PATH: daemon.socketPath } }).code).toBe(0);
  });
});

describe("trl run", () => {
  test("needs no daemon, also where a socket in XDG_RUNTIME_DIR would have too long a path", () => {
    using dir = tempDir();
    const long = join(dir.path, "x".repeat(100));
    mkdirSync(long, { mode: 0o700 });
    const words = ["run", "--socket-path", join(dir.path, "none.sock"), "--", "echo done"];
    const env = { XDG_RUNTIME_DIR: long };
    expect(trl(words, { env })).toEqual({ code: 0, out: "done\n", err: "" });
    expect(readdirSync(long)).toEqual([]);
  });

  test("passes stdout, stderr and the exit code through", async () => {
    await using daemon = await startDaemon();
    const run = (...words: string[]) => trl(["run", "--socket-path", daemon.socketPath, ...words]);
    expect(run("--", "echo out; echo err >&2; exit 3")).toEqual({ code: 3, out: "out\n", err: "err\n" });
    expect(run("--", "printf", "%s|", "a b", "$HOME", "it's").out).toBe("a b|$HOME|it's|");
    expect(run("--", "kill -9 $$").code).toBe(137);
    expect(run("--", "head -c 5000000 /dev/zero | tr '\\0' x").out.length).toBe(5_000_000);
    const timeout = run("--timeout", "0.3", "--", "echo partial; sleep 9");
    expect(timeout).toMatchObject({ code: 124, out: "partial\n" });
    expect(timeout.err).toContain("COMMAND_TIMEOUT");
    using wire = await daemon.connect();
    expect((await wire.call("session.list", {})).sessions).toEqual([]);
  });

  test("passes output on as it comes, input as it is given, and stops when nobody reads", async () => {
    await using daemon = await startDaemon();
    const words = [binary, "run", "-i", "--socket-path", daemon.socketPath, "--"];
    const child = Bun.spawn([...words, "echo first; cat; echo last"], { stdio: ["pipe", "pipe", "inherit"] });
    const reader = child.stdout.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("first\n");
    child.stdin.write("some input\n");
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("some input\n");
    child.stdin.end();
    expect(await child.exited).toBe(0);
    const file = join(daemon.dir, "big");
    await Bun.write(file, "0123456789".repeat(500_000));
    const piped = Bun.spawnSync(["sh", "-c", `${quoteWords(words)} md5sum <${file}`]);
    expect(piped.stdout.toString()).toStartWith(
      new Bun.CryptoHasher("md5").update(await Bun.file(file).bytes()).digest("hex"),
    );
    const headed = Bun.spawnSync(["sh", "-c", `${quoteWords(words)} yes | head -n 2`], { timeout: 10_000 });
    expect(headed.stdout.toString()).toBe("y\ny\n");
    const unasked = Bun.spawnSync([
      "sh",
      "-c",
      `echo mine | { ${shellBinary} run --socket-path ${daemon.socketPath} -- cat; cat; }`,
    ]);
    expect(unasked.stdout.toString()).toBe("mine\n");
    using wire = await daemon.connect();
    expect((await wire.call("session.list", {})).sessions).toEqual([]);
  });

  test("waits for a reader that takes its time, and hears signals meanwhile", async () => {
    await using daemon = await startDaemon({ flags: ["--stall-timeout-s", "0.3"] });
    const words = [binary, "run", "--socket-path", daemon.socketPath, "--"];
    const slow = Bun.spawnSync(["sh", "-c", `${quoteWords(words)} seq 1 2000000 | (sleep 1; md5sum)`]);
    const floor = Bun.spawnSync(["sh", "-c", "seq 1 2000000 | md5sum"]);
    expect(slow.stdout.toString()).toBe(floor.stdout.toString());
    const blocked = Bun.spawn([...words, "yes"], { stdio: ["ignore", "pipe", "ignore"] });
    using wire = await daemon.connect();
    await until("it to be blocked", async () => {
      const { streams } = await wire.call("exec.list", {});
      return streams.some(({ state, stdout_bytes }) => state === "running" && stdout_bytes > 1_000_000);
    });
    blocked.kill("SIGTERM");
    await until("it to be cancelled", async () =>
      (await wire.call("exec.list", {})).streams.every(({ state }) => state === "ended"),
    );
    blocked.kill("SIGKILL");
    await blocked.exited;
  });

  test("prints the result as JSON where that is wanted", async () => {
    await using daemon = await startDaemon();
    const run = (...words: string[]) => trl(["run", "--json", "--socket-path", daemon.socketPath, ...words]);
    const failed = run("--", "echo out; echo err >&2; exit 3");
    expect(failed).toMatchObject({ code: 3, err: "" });
    expect(JSON.parse(failed.out)).toMatchObject({ stdout: "out\n", stderr: "err\n", exit_code: 3 });
    const late = run("--timeout", "0.3", "--", "echo partial; sleep 9");
    expect(late).toMatchObject({ code: 124, err: "" });
    expect(JSON.parse(late.out)).toMatchObject({ stdout: "partial\n", timed_out: true, reason: "timeout" });
    using wire = await daemon.connect();
    expect((await wire.call("session.list", {})).sessions).toEqual([]);
  });

  test("keeps a named session", async () => {
    await using daemon = await startDaemon();
    const run = (...words: string[]) =>
      trl(["run", "--socket-path", daemon.socketPath, "--session", "work", ...words]);
    run("--", "cd /usr; x=5");
    expect(run("--", "pwd; echo $x").out).toBe("/usr\n5\n");
    expect(run("--cwd", "/etc", "--", "pwd").out).toBe("/etc\n");
    expect(run("--", "pwd").out).toBe("/usr\n");
  });

  test("runs here, with this environment", async () => {
    await using daemon = await startDaemon();
    using dir = tempDir();
    const result = trl(["run", "--socket-path", daemon.socketPath, "--", 'pwd; echo "$MINE"'], {
      cwd: dir.path,
      env: { MINE: "yes" },
    });
    expect(result.out).toBe(`${dir.path}\nyes\n`);
  });

  needs("linux").test("starts a temporary daemon where none is running, and leaves nothing", async () => {
    using dir = tempDir();
    const socket = join(dir.path, "none.sock");
    const result = trl([
      "run",
      "--socket-path",
      socket,
      "--",
      `echo $$ $PPID; setsid sleep 1000 & echo $!; exit 5`,
    ]);
    expect(result.code).toBe(5);
    const pids = result.out.trim().split(/\s+/).map(Number);
    expect(pids.length).toBe(3);
    await until("all of it to be gone", () => !pids.some((pid) => isThere(pid)));
  });

  test("that is killed takes its own daemon with it", async () => {
    using dir = tempDir();
    const mark = join(dir.path, "pid");
    const child = Bun.spawn(
      [
        binary,
        "run",
        "--socket-path",
        join(dir.path, "none.sock"),
        "--",
        `echo $$ >${mark}; exec sleep 1000`,
      ],
      {
        stdio: ["ignore", "ignore", "ignore"],
      },
    );
    await until(
      "the command",
      async () => (await Bun.file(mark).exists()) && (await Bun.file(mark).text()).trim(),
    );
    const pid = Number(await Bun.file(mark).text());
    child.kill("SIGKILL");
    await child.exited;
    await until("the command to be gone", () => !isThere(pid));
  });

  test("that is interrupted ends its command", async () => {
    await using daemon = await startDaemon();
    const mark = join(daemon.dir, "pid");
    const child = Bun.spawn(
      [binary, "run", "--socket-path", daemon.socketPath, "--", `echo $$ >${mark}; exec sleep 1000`],
      {
        stdio: ["ignore", "ignore", "ignore"],
      },
    );
    await until(
      "the command",
      async () => (await Bun.file(mark).exists()) && (await Bun.file(mark).text()).trim(),
    );
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(isThere(Number(await Bun.file(mark).text()))).toBe(false);
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
