// Other users of the machine: they get in by no door, and what they put in the way is neither used nor believed.
import { expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
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
import { startHere } from "../../support/daemon.ts";
import { startHttp } from "../../support/http.ts";
import { needs } from "../../support/needs.ts";
import { anotherUid, asUser, runAs, strangerUid } from "../../support/other-user.ts";
import { listProcesses } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";

const uid = anotherUid;

const ownerOf = (pid: number): number | undefined => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;

/** A place like /tmp: everybody's, where nobody may remove what is another's. */
function sharedDir() {
  const dir = tempDir();
  chmodSync(dir.path, 0o1777);
  return dir;
}

const serveAs = (who: number, dir: string, flags: string[] = []) =>
  runAs(who, ["timeout", "5", binary, "serve", "--socket-path", join(dir, "trl.sock"), ...flags], {
    TRL_RUNTIME_DIR: join(dir, "runtime"),
  });

const { describe } = needs("other users");

describe("another user", () => {
  test("cannot connect to the socket, nor read the token, the pid file, the announcement or the private directory", async () => {
    await using daemon = await startHere({ uid });
    using wire = await daemon.connect();
    await newSession(wire);
    // As in a directory that is open to all, only the files themselves protect.
    chmodSync(daemon.dir, 0o1777);
    const trusting = { TRL_TRUSTED_DIRS: daemon.dir };
    const runDir = [
      ...new Bun.Glob(`trl-${daemon.pid}-*`).scanSync({ cwd: "/dev/shm", onlyFiles: false }),
    ][0]!;
    const [note] = [...new Bun.Glob("daemons/*.json").scanSync({ cwd: daemon.dir })];
    const ping = [binary, "ping", "--socket-path", daemon.socketPath];
    expect(runAs(uid, ping).code).toBe(0);
    const strangers = runAs(strangerUid, ping, trusting);
    expect(strangers).toMatchObject({ code: 69, out: "" });
    expect(strangers.err).toContain("cannot connect");
    const files = [daemon.socketPath.replace(".sock", ".token"), daemon.socketPath.replace(".sock", ".pid")];
    for (const file of [...files, join(daemon.dir, note!)]) {
      expect(runAs(uid, ["cat", file]).code).toBe(0);
      expect(runAs(strangerUid, ["cat", file])).toMatchObject({ code: 1, out: "" });
    }
    expect(runAs(uid, ["ls", join("/dev/shm", runDir)]).code).toBe(0);
    expect(runAs(strangerUid, ["ls", join("/dev/shm", runDir)])).toMatchObject({ code: 2, out: "" });
  });

  test("sees of a session's variables, input and command nothing in the list of processes", async () => {
    const secret = "s3cret-of-a-session";
    await using daemon = await startHere({ uid });
    using wire = await daemon.connect();
    const session = await newSession(wire, { env: { FROM_SESSION: secret } });
    const command = `sleep 1000 # ${secret}`;
    const more = { env: { FROM_COMMAND: secret }, stdin: secret };
    await wire.call("exec.stream", { session_id: session.id, command, ...more });
    for (const driver of ["native", "bun-pty"] as const)
      await wire.call("pty.create", { command: "sleep 1000", driver, env: { FROM_TERMINAL: secret } });
    const shown = runAs(strangerUid, ["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"]).out;
    expect(shown).toContain("sleep 1000");
    expect(shown).not.toContain(secret);
    const members = listProcesses().filter(({ pid }) => ownerOf(pid) === uid);
    expect(members.length).toBeGreaterThanOrEqual(4);
    for (const { pid } of members) expect(runAs(strangerUid, ["cat", `/proc/${pid}/environ`]).out).toBe("");
  });

  needs("curl").test(
    "who reaches the port without the token gets nothing, wherever it is tried",
    async () => {
      await using daemon = await startHttp({ uid });
      for (const path of [
        "/",
        "/rpc",
        "/ticket",
        "/metrics",
        "/openapi.json",
        "/ws",
        `/?token=${daemon.token}`,
      ]) {
        const curl = [
          "curl",
          "-s",
          "-o",
          "/dev/null",
          "-w",
          "%{http_code}",
          "-X",
          path === "/ws" ? "GET" : "POST",
        ];
        expect(runAs(strangerUid, [...curl, `${daemon.url}${path}`]).out).toBe("401");
      }
      expect(daemon.log()).not.toContain(daemon.token);
    },
  );
});

describe("what a stranger has put at the path of", () => {
  const obstacles: [name: string, make: (path: string) => void][] = [
    ["a link to a file", (path) => symlinkSync("/etc/passwd", path)],
    ["a link to nothing", (path) => symlinkSync("/nonexistent/target", path)],
    ["a file", (path) => writeFileSync(path, "")],
    ["a file with a pid", (path) => writeFileSync(path, "1\n", { mode: 0o666 })],
    ["a directory", (path) => mkdirSync(path)],
    ["a pipe", (path) => void Bun.spawnSync(["mkfifo", "-m", "666", path])],
  ];

  describe.each(["trl.sock", "trl.pid"])("%s", (file) => {
    test.each(obstacles)("%s: is refused in a sentence, and left as it is", (_, make) => {
      using dir = sharedDir();
      const path = join(dir.path, file);
      make(path);
      Bun.spawnSync(["chown", "-h", `${strangerUid}:${strangerUid}`, path]);
      const before = lstatSync(path);
      const { code, err } = serveAs(uid, dir.path);
      expect(code).toBe(1);
      expect(err).toContain(path);
      expect(lstatSync(path)).toMatchObject({ ino: before.ino, size: before.size, mode: before.mode });
      expect(existsSync("/nonexistent")).toBe(false);
      if (file === "trl.sock") expect(existsSync(join(dir.path, "trl.pid"))).toBe(false);
    });
  });

  test("the token: is not taken for one, and the daemon does not start with it", () => {
    using dir = sharedDir();
    const path = join(dir.path, "trl.token");
    writeFileSync(path, `${"a".repeat(64)}\n`, { mode: 0o600 });
    chownSync(path, strangerUid, strangerUid);
    const { code, err } = serveAs(uid, dir.path);
    expect(code).toBe(1);
    expect(err).toContain("the token's file cannot be made");
    expect(existsSync(join(dir.path, "trl.sock"))).toBe(false);
  });

  test.each([
    ["a link to another directory", (path: string, own: string) => symlinkSync(own, path)],
    ["a directory", (path: string) => mkdirSync(path)],
  ])("the announcements, %s: nothing is written there, and that is logged", async (_, make) => {
    using dir = sharedDir();
    const own = join(dir.path, "own");
    mkdirSync(own);
    const taken = join(dir.path, "taken");
    make(taken, own);
    if (!lstatSync(taken).isSymbolicLink()) chownSync(taken, strangerUid, strangerUid);
    chownSync(own, uid, uid);
    await using daemon = await startHere({ uid, env: { TRL_RUNTIME_DIR: taken } });
    await until("the warning", () => daemon.log().includes("could not write the discovery file"));
    expect([...new Bun.Glob("**/*").scanSync({ cwd: taken, dot: true })]).toEqual([]);
  });

  test("the library that bun-pty is unpacked to: there is no such path that a stranger could know", async () => {
    using dir = sharedDir();
    const env = { TMPDIR: dir.path };
    await using daemon = await startHere({ uid, env });
    using wire = await daemon.connect();
    const { session_id } = await wire.call("pty.create", {
      command: "echo own; read -r seen",
      driver: "bun-pty",
    });
    await wire.call("pty.wait", { session_id, until: { text: "own" }, timeout_s: 10 });
    expect([...new Bun.Glob("**/*.so").scanSync({ cwd: dir.path, dot: true })]).toEqual([]);
  });
});

/** Theirs, as `/tmp/ops` is where another user was there first. */
function strangersDir(mode: number) {
  const dir = tempDir();
  chmodSync(dir.path, mode);
  chownSync(dir.path, strangerUid, strangerUid);
  return dir;
}

describe("a daemon that a stranger runs", () => {
  const places = [
    ["in a directory that is everybody's", sharedDir, /trl\.sock belongs to another user/],
    ["in a directory of theirs", () => strangersDir(0o755), /trl-test-\w+ belongs to another user/],
    ["in a directory of theirs that is open to all", () => strangersDir(0o1777), /belongs to another user/],
  ] as const;
  needs("socat").test.each(places)(
    "%s is not spoken to: not by the verbs, the bridge or the library",
    async (_, make, refusal) => {
      using dir = make();
      const socketPath = join(dir.path, "trl.sock");
      const heard = join(dir.path, "heard");
      const listen = `umask 0; exec socat UNIX-LISTEN:${socketPath},fork,mode=777 OPEN:${heard},creat,append`;
      const stranger = Bun.spawn([...asUser(strangerUid), "sh", "-c", listen], {
        stdio: ["ignore", "ignore", "ignore"],
      });
      try {
        await until("the stranger", () => existsSync(socketPath));
        const where = ["--socket-path", socketPath];
        for (const words of [
          ["run", ...where, "--", "echo $SECRET"],
          ["ls", ...where],
          ["dial-stdio", ...where],
        ]) {
          const { code, err } = runAs(uid, [binary, ...words], { SECRET: "told" });
          expect(code).toBe(69);
          expect(err).toMatch(refusal);
          expect(err).toContain(`(uid ${strangerUid})`);
        }
        const library = join(import.meta.dir, "../../../dist/package/client.js");
        const script = `import { connect } from ${JSON.stringify(library)}; await connect(${JSON.stringify(socketPath)});`;
        const { code, err } = runAs(uid, [process.execPath, "-e", script], {
          BUN_INSTALL_CACHE_DIR: dir.path,
        });
        expect(code).not.toBe(0);
        expect(err).toContain("belongs to another user");
        expect(serveAs(uid, dir.path).code).toBe(1);
        expect(existsSync(heard) ? readFileSync(heard, "utf8") : "").toBe("");
      } finally {
        stranger.kill("SIGKILL");
        await stranger.exited;
      }
    },
  );
});

describe("a directory that others can change", () => {
  const places: [what: string, make: () => ReturnType<typeof tempDir>][] = [
    ["of theirs, open to all", () => strangersDir(0o1777)],
    ["without the sticky bit", openDir],
  ];

  function openDir() {
    const dir = tempDir();
    chmodSync(dir.path, 0o777);
    return dir;
  }

  test.each(places)("%s: no daemon starts there, and nothing is left there", (_, make) => {
    using dir = make();
    const { code, err } = serveAs(uid, dir.path);
    expect(code).toBe(1);
    expect(err).toContain(dir.path);
    expect(err).toContain("--socket-dir");
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test.each(places)("%s: a token there is not used, and doctor names the directory", (_, make) => {
    using dir = make();
    const path = join(dir.path, "trl.token");
    writeFileSync(path, `${"a".repeat(64)}\n`, { mode: 0o600 });
    chownSync(path, uid, uid);
    const where = ["--socket-dir", dir.path];
    const token = runAs(uid, [binary, "token", ...where]);
    expect(token).toMatchObject({ code: 77, out: "" });
    expect(token.err).toContain(dir.path);
    const { checks } = JSON.parse(runAs(uid, [binary, "doctor", "--json", ...where]).out);
    const { status, summary, remedy } = checks.find((it: { id: string }) => it.id === "socket-directory");
    expect(status).toBe("problem");
    expect(summary).toContain(dir.path);
    expect(remedy).toContain("--socket-dir");
  });

  test("and that is named as trusted is used by the daemon, the verbs and the library", async () => {
    using dir = openDir();
    chownSync(dir.path, strangerUid, strangerUid);
    const socketPath = join(dir.path, "trl.sock");
    const env = { TRL_TRUSTED_DIRS: dir.path, TRL_SOCKET_PATH: socketPath };
    await using daemon = await startHere({ uid, flags: ["--socket-path", socketPath], env });
    expect(runAs(uid, [binary, "ls"], env)).toMatchObject({ code: 0 });
    expect(runAs(uid, [binary, "ls"], { TRL_SOCKET_PATH: socketPath })).toMatchObject({ code: 69 });
    expect(existsSync(`/proc/${daemon.pid}`)).toBeTrue();
  });

  test("is no obstacle to a command without a daemon where another directory will do", () => {
    using dir = openDir();
    const { code, out } = runAs(uid, [binary, "run", "--", "echo done"], { TMPDIR: dir.path });
    expect({ code, out }).toEqual({ code: 0, out: "done\n" });
  });
});
