// The token: where it comes from, who can read it, and where it must never be seen.
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type DaemonSetup, startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { binary } from "../../support/program.ts";
import { isRoot } from "../../support/requirements.ts";
import { newSession } from "../../support/session.ts";
import { startOn } from "../../support/successor.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import { Wire } from "../../support/wire.ts";

const secret = "s3cret-of-the-environment";
const wellFormed = /^[0-9a-f]{64}\n$/;
const old = "0123456789abcdef".repeat(4);

interface Started extends AsyncDisposable {
  socketPath: string;
  tokenPath: string;
}

/** A daemon in a directory that is there before and after it. */
async function serveIn(dir: string, flags: string[] = [], umask = "022"): Promise<Started> {
  const socketPath = join(dir, "trl.sock");
  const where = flags.includes("--socket-dir") ? [] : ["--socket-path", socketPath];
  const shell = ["/bin/sh", "-c", `umask ${umask}; exec "$@"`, "sh"];
  const child = Bun.spawn([...shell, binary, "serve", "--allow-root", ...where, ...flags], {
    env: {
      PATH: process.env["PATH"],
      TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"],
      HOME: process.env["HOME"],
    },
    stdio: ["ignore", "ignore", "ignore"],
  });
  await until("the socket", () => {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}`);
    return answers(socketPath); // the file is there a moment before anybody listens
  });
  return {
    socketPath,
    tokenPath: join(dir, "trl.token"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

/** Of a daemon that does not start. */
function attempt(dir: string): { exitCode: number; stderr: string } {
  const { exitCode, stderr } = Bun.spawnSync([binary, "serve", "--socket-path", join(dir, "trl.sock")], {
    env: { PATH: process.env["PATH"], TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"] },
    timeout: 10_000,
  });
  return { exitCode, stderr: stderr.toString() };
}

async function answers(socketPath: string): Promise<boolean> {
  try {
    using _ = await Wire.connect(socketPath);
    return true;
  } catch {
    return false;
  }
}

async function isAccepted(socketPath: string, token: string): Promise<boolean> {
  using wire = await Wire.connect(socketPath);
  wire.sendFrame({ type: "Auth", token });
  return (await wire.frame((frame) => frame["type"] === "AuthResult"))["ok"];
}

const modeOf = (path: string) => lstatSync(path).mode & 0o777;

describe("the token's file", () => {
  test("is made beside the socket, 64 hex digits, its owner's alone, and opens the door", async () => {
    await using daemon = await startDaemon();
    const path = join(daemon.dir, "trl.token");
    expect(readFileSync(path, "utf8")).toMatch(wellFormed);
    expect(modeOf(path)).toBe(0o600);
    expect(await isAccepted(daemon.socketPath, readFileSync(path, "utf8").trim())).toBeTrue();
    expect(await isAccepted(daemon.socketPath, old)).toBeFalse();
    expect(readdirSync(daemon.dir).filter((name) => name.startsWith("trl.token"))).toEqual(["trl.token"]);
  });

  test("is another one for another daemon", async () => {
    await using one = await startDaemon();
    await using other = await startDaemon();
    const token = readFileSync(join(one.dir, "trl.token"), "utf8").trim();
    expect(await isAccepted(one.socketPath, token)).toBeTrue();
    expect(await isAccepted(other.socketPath, token)).toBeFalse();
  });

  test("is in the directory of --socket-dir", async () => {
    using dir = tempDir();
    await using daemon = await serveIn(dir.path, ["--socket-dir", dir.path]);
    expect(modeOf(daemon.tokenPath)).toBe(0o600);
    expect(await isAccepted(daemon.socketPath, readFileSync(daemon.tokenPath, "utf8").trim())).toBeTrue();
  });

  test("stays when the daemon goes, and is used again by the next one", async () => {
    using dir = tempDir();
    const tokens: string[] = [];
    for (let start = 0; start < 2; start++) {
      await using daemon = await serveIn(dir.path);
      tokens.push(readFileSync(daemon.tokenPath, "utf8"));
      expect(await isAccepted(daemon.socketPath, tokens[0]!.trim())).toBeTrue();
    }
    expect(tokens[1]).toBe(tokens[0]!);
    expect(readFileSync(join(dir.path, "trl.token"), "utf8")).toBe(tokens[0]!);
  });

  test.each(["000", "077", "0277", "0177"])("is 0600 whatever the umask is (%s)", async (umask) => {
    using dir = tempDir();
    await using daemon = await serveIn(dir.path, [], umask);
    expect(modeOf(daemon.tokenPath)).toBe(0o600);
    expect(modeOf(daemon.socketPath)).toBe(0o600);
  });

  const place = (text: string, mode: number) => (path: string) => {
    writeFileSync(path, text);
    chmodSync(path, mode); // not by the umask of whoever runs the tests
  };

  /** Root reads it all the same. */
  const nobodys: [string, (path: string) => void] = ["readable by nobody", place(`${old}\n`, 0o000)];

  test.each([
    ["as it is", place(`${old}\n`, 0o600)],
    ["without the newline", place(old, 0o600)],
    ["not to be written", place(`${old}\n`, 0o400)],
  ])("that is there is used: %s", async (_, prepare) => {
    using dir = tempDir();
    prepare(join(dir.path, "trl.token"));
    await using daemon = await serveIn(dir.path);
    expect(await isAccepted(daemon.socketPath, old)).toBeTrue();
    expect(readFileSync(daemon.tokenPath, "utf8").trim()).toBe(old);
  });

  test.each<[what: string, prepare: (path: string) => void]>([
    ["readable by the group", place(`${old}\n`, 0o640)],
    ["readable by all", place(`${old}\n`, 0o644)],
    ["writable by others", place(`${old}\n`, 0o602)],
    ["empty", place("", 0o600)],
    ["empty, and readable by all", place("", 0o644)],
    ...(isRoot ? [nobodys] : []),
  ])("that is %s is replaced", async (_, prepare) => {
    using dir = tempDir();
    const path = join(dir.path, "trl.token");
    prepare(path);
    await using daemon = await serveIn(dir.path);
    expect(lstatSync(path).isFile()).toBeTrue();
    expect(modeOf(path)).toBe(0o600);
    expect(readFileSync(path, "utf8")).toMatch(wellFormed);
    expect(await isAccepted(daemon.socketPath, old)).toBeFalse();
    expect(await isAccepted(daemon.socketPath, readFileSync(path, "utf8").trim())).toBeTrue();
  });

  const foreign: [what: string, prepare: (path: string) => void][] = [
    ["something else", place("ghp_somebody's own\n", 0o600)],
    ["something else that all can read", place("ghp_somebody's own\n", 0o644)],
    ["something large", place(`${old}\n`.repeat(100), 0o600)],
    ["too short", place(old.slice(1), 0o600)],
    ["too long", place(`${old}0`, 0o600)],
    ["not hex", place(old.replace("a", "g"), 0o600)],
    ["two lines", place(`${old}\n${old}\n`, 0o600)],
    ["no text", place("\xff\0".repeat(32), 0o600)],
    [
      "a symbolic link",
      (path) => {
        place(`${old}\n`, 0o600)(`${path}.elsewhere`);
        symlinkSync(`${path}.elsewhere`, path);
      },
    ],
    ["a symbolic link to nothing", (path) => symlinkSync("/nonexistent/token", path)],
    ["a pipe", (path) => void Bun.spawnSync(["mkfifo", "-m", "600", path])],
    ["an empty directory", (path) => mkdirSync(path)],
    ...(isRoot ? [] : [nobodys]),
  ];

  test.each(foreign)("that is somebody's own, %s: is left as it is, and no daemon starts", (_, prepare) => {
    using dir = tempDir();
    const path = join(dir.path, "trl.token");
    prepare(path);
    const contents = () =>
      readdirSync(dir.path).map((name) => {
        const { ino, size, mode, mtimeMs } = lstatSync(join(dir.path, name));
        return { name, ino, size, mode, mtimeMs };
      });
    const before = contents();
    const { exitCode, stderr } = attempt(dir.path);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${path} exists and is no token of this user; choose another --socket-path`);
    expect(contents()).toEqual(before);
  });

  test("that is somebody's own does not matter to a daemon that has its token from the environment", async () => {
    using dir = tempDir();
    const path = join(dir.path, "trl.token");
    place("ghp_somebody's own\n", 0o600)(path);
    await using _ = await startOn(join(dir.path, "trl.sock"), { env: { TRL_AUTH_TOKEN: secret } });
    expect(await isAccepted(join(dir.path, "trl.sock"), secret)).toBeTrue();
    expect(readFileSync(path, "utf8")).toBe("ghp_somebody's own\n");
  });

  test("that cannot be made is said in a sentence, and nothing is left of the attempt", () => {
    using dir = tempDir();
    mkdirSync(join(dir.path, "trl.token", "full"), { recursive: true });
    const { exitCode, stderr } = attempt(dir.path);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("the token's file cannot be made");
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(readdirSync(dir.path).filter((name) => name.startsWith("trl.token."))).toEqual([]);
  });
});

describe("TRL_AUTH_TOKEN", () => {
  test("is the token, and no file is made", async () => {
    await using daemon = await startDaemon({ env: { TRL_AUTH_TOKEN: secret } });
    expect(await isAccepted(daemon.socketPath, secret)).toBeTrue();
    expect(await isAccepted(daemon.socketPath, "")).toBeFalse();
    expect(existsSync(join(daemon.dir, "trl.token"))).toBeFalse();
  });

  test("in the file of --env-file, too", async () => {
    using dir = tempDir();
    writeFileSync(join(dir.path, "env"), `TRL_AUTH_TOKEN=${secret}\n`);
    await using daemon = await startDaemon({ flags: ["--env-file", join(dir.path, "env")] });
    expect(await isAccepted(daemon.socketPath, secret)).toBeTrue();
    expect(existsSync(join(daemon.dir, "trl.token"))).toBeFalse();
  });

  test("that is empty is none", async () => {
    await using daemon = await startDaemon({ env: { TRL_AUTH_TOKEN: "" } });
    expect(await isAccepted(daemon.socketPath, "")).toBeFalse();
    expect(statSync(join(daemon.dir, "trl.token")).isFile()).toBeTrue();
  });
});

/** All that a terminal's program has printed. */
async function printed(
  wire: Wire,
  params: { command: string; driver: "native" | "bun-pty" },
): Promise<string> {
  // The program waits until all of its output was seen: bun-pty may lose what is printed right before the end.
  const command = `${params.command}; printf '\\036'; read -r seen`;
  const terminal = await newTerminal(wire, { shell: "/bin/sh", ...params, command });
  const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, from: 0 });
  await until("all output", () => watcher.all.includes("\x1e"));
  await wire.call("pty.close", { session_id: terminal.id });
  return watcher.all.toString();
}

async function tokenOf({ dir }: TestDaemon, { env }: DaemonSetup): Promise<string> {
  return env?.["TRL_AUTH_TOKEN"] ?? readFileSync(join(dir, "trl.token"), "utf8").trim();
}

describe.each<[from: string, setup: DaemonSetup]>([
  ["the environment", { env: { TRL_AUTH_TOKEN: secret, VISIBLE: "yes" } }],
  ["the file", { env: { VISIBLE: "yes" } }],
])("a token from %s", (_, setup) => {
  needs("linux").test("is in nobody's environment", async () => {
    await using daemon = await startDaemon(setup);
    const token = await tokenOf(daemon, setup);
    using wire = await daemon.connect();
    const commands = [];
    for (const driver of ["native", "bun-pty"] as const)
      commands.push(await printed(wire, { command: "env; tr '\\0' '\\n' </proc/self/environ", driver }));
    for (const stateful of [true, false]) {
      const session = await newSession(wire, { stateful });
      commands.push(await session.out("env; export -p"));
    }
    wire.sendFrame({ type: "Auth", token });
    wire.sendFrame({ type: "CreateSession", id: "fe", shell: "/bin/sh" });
    wire.sendFrame({ type: "Subscribe", session_id: "fe" });
    wire.sendFrame({ type: "WriteInput", session_id: "fe", data: "env; exit\r" });
    await wire.frame((frame) => frame["type"] === "SessionClosed");
    const frames = wire.frames.filter((frame) => frame["type"] === "SessionOutput");
    commands.push(Buffer.concat(frames.map(({ data }) => Buffer.from(data, "base64"))).toString());
    expect(commands).toHaveLength(5);
    for (const environment of commands) {
      expect(environment).toContain("VISIBLE=");
      expect(environment).not.toContain("AUTH_TOKEN");
      expect(environment).not.toContain(token);
    }
  });

  test("is never logged, nor is what somebody took for it, nor told to anybody", async () => {
    const flags = ["--verbose", "--log-format", "json"];
    await using daemon = await startDaemon({ ...setup, flags });
    const token = await tokenOf(daemon, setup);
    const wrong = "wr0ng-but-maybe-of-another-daemon";
    using wire = await daemon.connect();
    for (const message of [
      { type: "Auth", token },
      { type: "Auth", token: { [token]: token } },
      { type: "Auth", token: wrong },
      { type: "Auth", tokens: token },
      { type: "Auth", token: [wrong] },
    ]) {
      using visitor = await daemon.connect();
      visitor.sendFrame(message);
      visitor.endInput();
      await visitor.untilClosed();
      expect(visitor.rawLines).toHaveLength(1);
      expect(visitor.rawLines[0]).not.toContain(token);
      expect(visitor.rawLines[0]).not.toContain(wrong);
    }
    const session = await newSession(wire);
    await session.run("true");
    await wire.call("pty.create", { session_id: "t", shell: "/bin/sh" });
    await wire.call("pty.close", { session_id: "t" });
    const told = [];
    for (const method of ["system.describe", "system.stats", "session.list", "pty.list"] as const)
      told.push(await wire.request(method, {}));
    told.push(await wire.request("session.info", { session_id: session.id }));
    expect(told.filter((reply) => !reply["ok"])).toEqual([]);
    daemon.kill("SIGTERM");
    await daemon.exited;
    await until("the end of the log", () => daemon.log().includes('"stopped"'));
    expect(daemon.log()).toContain("terminal created");
    for (const text of [daemon.log(), JSON.stringify(told)]) {
      expect(text).not.toContain(token);
      expect(text).not.toContain(wrong);
    }
  });
});
