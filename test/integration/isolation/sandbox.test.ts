// What is seen and reached from inside: a sandbox, and another root.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Isolation } from "../../../src/protocol/isolation.ts";
import { startDaemon, startHere, type TestDaemon } from "../../support/daemon.ts";
import { type Ability, abilitiesOf, expectRefused } from "../../support/isolation.ts";
import { needs } from "../../support/needs.ts";
import { newSession, type TestSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal } from "../../support/terminal.ts";
import { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
/** The tests see the daemon's directory from within the sandboxes' own /tmp. */
const place = tempDir("/tmp");
const workDir = join(place.path, "work");

beforeAll(async () => {
  daemon = await startDaemon({ env: { XDG_RUNTIME_DIR: place.path, TMPDIR: "/tmp" } });
  wire = await daemon.connect();
  mkdirSync(workDir);
});
afterAll(async () => {
  wire[Symbol.dispose]();
  await daemon[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

async function inside(isolation: Isolation, act: (session: TestSession) => Promise<void>): Promise<void> {
  const session = await newSession(wire, { isolation });
  await act(session);
  await wire.call("session.destroy", { session_id: session.id });
}

needs("sandbox").describe("the sandbox", () => {
  test("cannot write outside, and can where it is listed", () =>
    inside({ sandbox: { writable: [workDir] } }, async ({ run, out }) => {
      for (const path of ["/etc/trl-test", "/usr/trl-test", "/trl-test", `${daemon.dir}/trl-test`]) {
        const { exit_code, stderr } = await run(`touch ${path}`);
        expect(stderr).toMatch(/Read-only file system|No such file/);
        expect(exit_code).not.toBe(0);
        expect(existsSync(path)).toBeFalse();
      }
      await out(`echo mine >${workDir}/file`);
      expect(readFileSync(join(workDir, "file"), "utf8")).toBe("mine\n");
      expect((await run("mount -o remount,rw /; mkdir /sys/fs/cgroup/memory/out")).exit_code).not.toBe(0);
    }));

  test("cannot change the kernel's settings, and none is changed by trying", () =>
    inside({ sandbox: {} }, async ({ run, out }) => {
      // Opened for writing, and nothing written.
      for (const file of [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/vm/overcommit_memory",
        "/sys/kernel/profiling",
      ]) {
        const { exit_code, stderr } = await run(`: >>${file}`);
        expect(stderr).toMatch(/Read-only file system|Permission denied|No such file/);
        expect(exit_code).not.toBe(0);
      }
      expect(await out("cat /proc/sys/kernel/ostype; echo me >/proc/self/comm && echo own")).toBe(
        "Linux\nown",
      );
    }));

  test("has a /tmp of its own, which lasts as long as the session", async () => {
    const isolation = { sandbox: {} };
    const name = `trl-test-${process.pid}`;
    const session = await newSession(wire, { isolation });
    // What leads to the shell's own files is to be seen.
    const way = place.path.split("/").at(-1)!;
    expect(await session.out("ls -A /tmp")).toBe(way);
    await session.out(`mkdir /tmp/${name} && cd /tmp/${name} && touch here`);
    expect(await session.out("pwd; ls")).toBe(`/tmp/${name}\nhere`);
    expect(existsSync(`/tmp/${name}`)).toBeFalse();
    const other = await newSession(wire, { isolation });
    expect(await other.out("ls -A /tmp")).toBe(way);
    const ours = () => readdirSync("/tmp").filter((entry) => entry.startsWith(`trl-${daemon.pid}-`));
    expect(ours().length).toBe(2);
    await wire.call("session.destroy", { session_id: session.id });
    await wire.call("session.destroy", { session_id: other.id });
    expect(ours()).toEqual([]);
  });

  test("keeps the session's state, as any session does", () =>
    inside({ sandbox: {} }, async ({ run, out }) => {
      await run(
        "x=41; greet() { echo hello $1; }; alias ll='ls -l'; mkdir -p /tmp/a/b; cd /tmp/a/b; ln -s /tmp/a /tmp/link",
      );
      expect(await out("echo $((x + 1)); greet you; pwd")).toBe("42\nhello you\n/tmp/a/b");
      expect(await out("pwd", { working_dir: "/tmp/link" })).toBe("/tmp/link");
      expect(await out("echo oops >/dev/stderr; pwd")).toBe("/tmp/a/b");
      await run("rmdir /tmp/a/b");
      expect(await out("cd ..; echo back")).toBe("back");
      expect(await out("cat", { stdin: "through" })).toBe("through");
    }));

  test("does not reach loopback, nor anything else, without the network", async () => {
    using server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const connect = `timeout 5 bash -c 'exec 9<>/dev/tcp/127.0.0.1/${server.port}' && echo reached`;
    await inside({ sandbox: {} }, async ({ run }) => {
      expect((await run(connect)).stdout).toBe("");
      expect((await run("grep -c : /proc/net/dev")).stdout).toBe("1\n"); // the loopback of its own
    });
    await inside({ sandbox: { network: true } }, async ({ run }) => {
      expect((await run(connect)).stdout).toBe("reached\n");
    });
  });

  test("does not see processes outside, and cannot signal them", () =>
    inside({ sandbox: {} }, async ({ run, out }) => {
      expect(Number(await out("ls -d /proc/[0-9]* | wc -l"))).toBeLessThan(10);
      expect((await run(`kill -9 ${daemon.pid}`)).stderr).toContain("No such process");
      expect(await out("grep CapEff /proc/self/status")).toMatch(/\t0+$/);
    }));

  needs("python3").test("does not reach the daemon, by its socket, its token or its files", () =>
    inside({ sandbox: { private_tmp: false, network: true } }, async ({ run, out }) => {
      const connect = `python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("${daemon.socketPath}")'`;
      expect((await run(connect)).stderr).toMatch(/Error/);
      expect((await run(`cat ${daemon.dir}/trl.token`)).stdout).toBe("");
      // Its own shell's files, and nobody else's: other sessions keep their state beside them.
      expect((await out(`ls ${place.path}/trl-${daemon.pid}-*`)).split("\n")).toHaveLength(1);
    }),
  );

  needs("python3").describe("of others outside", () => {
    const answers = (path: string) =>
      `python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("${path}"); print("reached")'`;
    const open = { private_tmp: false, network: true };

    test("does not reach a daemon, by its socket, its token or its files, also one that came later", async () => {
      using dir = tempDir();
      // A directory of its own is hidden as a whole, and in one that it shares with others its files are.
      const places = [join(dir.path, "own"), join(dir.path, "shared")];
      for (const path of places) mkdirSync(path, { mode: 0o700 });
      writeFileSync(join(places[1]!, "note"), "seen");
      await inside({ sandbox: open }, async ({ run }) => {
        await run("true"); // the next shell waits with a view of what is there now
        for (const path of places) {
          await using other = await startHere({
            flags: ["--socket-path", join(path, "trl.sock"), "--run-dir", path],
            env: { TRL_RUNTIME_DIR: daemon.dir },
          });
          using theirs = await Wire.connect(join(path, "trl.sock"));
          await newSession(theirs);
          expect((await run(answers(join(path, "trl.sock")))).stdout).toBe("");
          expect((await run(`cat ${path}/trl.token ${path}/trl.pid ${path}/trl-*/*/*`)).stdout).toBe("");
          expect(existsSync(join(path, "trl.token"))).toBeTrue();
          expect(existsSync(`/proc/${other.pid}`)).toBeTrue();
        }
        expect((await run(`cat ${places[1]}/note`)).stdout).toBe("seen");
      });
    });

    test("does not reach services that variables name, unless it was asked for", async () => {
      using dir = tempDir();
      const agent = join(dir.path, "agent.sock");
      using listener = Bun.listen({ unix: agent, socket: { data() {} } });
      await using own = await startDaemon({ env: { SSH_AUTH_SOCK: agent, TMPDIR: "/tmp" } });
      using theirs = await own.connect();
      const plain = await newSession(theirs, {});
      expect(await plain.out(answers(agent))).toBe("reached");
      const closed = await newSession(theirs, { isolation: { sandbox: open } });
      expect((await closed.run(answers(agent))).stdout).toBe("");
      const around = await newSession(theirs, { isolation: { sandbox: { ...open, writable: [dir.path] } } });
      expect((await around.run(answers(agent))).stdout).toBe("");
      const asked = await newSession(theirs, { isolation: { sandbox: { ...open, writable: [agent] } } });
      expect(await asked.out(answers(agent))).toBe("reached");
      expect(listener.unix).toBe(agent);
    });

    test("does not reach a service by moving a directory that holds its socket", async () => {
      using dir = tempDir();
      const at = (name: string) => join(dir.path, name);
      mkdirSync(at("a/b"), { recursive: true });
      writeFileSync(at("a/note"), "seen");
      using _listener = Bun.listen({ unix: at("a/b/agent.sock"), socket: { data() {} } });
      await using own = await startDaemon({ env: { SSH_AUTH_SOCK: at("a/b/agent.sock"), TMPDIR: "/tmp" } });
      using theirs = await own.connect();
      const sandbox = { ...open, writable: [dir.path] };
      const { run, out } = await newSession(theirs, { isolation: { sandbox } });
      for (const [from, to] of [
        ["a", "moved"],
        ["a/b", "a/moved"],
      ])
        expect((await run(`mv ${at(from!)} ${at(to!)}`)).stderr).toContain("busy");
      for (const path of ["moved/b", "a/moved", "a/b"])
        expect((await run(answers(at(`${path}/agent.sock`)))).stdout).toBe("");
      // The rest of the directory stays as open as it was.
      expect(await out(`cat ${at("a/note")} && echo new >${at("a/new")} && cat ${at("a/new")}`)).toBe(
        "seennew",
      );
    });
  });

  test("that could move the daemon's files, or what it is not to see, is refused", async () => {
    const refused = async (sandbox: Isolation["sandbox"]) => {
      const { code, message } = await wire.fail("session.create", { isolation: { sandbox } });
      expect(code).toBe("INVALID_PARAMS");
      return message;
    };
    expect(await refused({ writable: ["/"] })).toContain("holds the daemon's own files");
    expect(await refused({ writable: [daemon.dir] })).toContain("holds the daemon's own files");
    mkdirSync(join(workDir, "a/b"), { recursive: true });
    expect(await refused({ writable: [workDir], hidden: [join(workDir, "a/b")] })).toContain("can be moved");
    expect(await refused({ writable: ["/no/such/place"] })).toContain(
      "no such file or directory: /no/such/place",
    );
    expect(await refused({ hidden: ["/no/such/place"] })).toContain("no such file or directory");
  });

  test("leaves nothing behind where it is refused", async () => {
    const ours = () => readdirSync("/tmp").filter((entry) => entry.startsWith(`trl-${daemon.pid}-`));
    const before = ours();
    const refused = { sandbox: { hidden: ["/usr"] } }; // where the shell is
    expect((await wire.fail("session.create", { isolation: refused })).code).toBe("INVALID_PARAMS");
    expect(
      (await wire.fail("session.create", { isolation: { sandbox: {} }, working_dir: "/no/such" })).code,
    ).toBe("INVALID_PARAMS");
    for (const path of ["/dev", "/proc", "/proc/sys"]) {
      const { message } = await wire.fail("session.create", {
        isolation: { sandbox: { writable: [path] } },
      });
      expect(message).toBe(`isolation.sandbox.writable: ${path} is always the sandbox's own`);
    }
    expect(ours()).toEqual(before);
  });

  test("keeps its /tmp from everybody else, and temporary files in it", () =>
    inside({ sandbox: {} }, async ({ out }) => {
      const [own] = readdirSync("/tmp").filter((entry) => entry.startsWith(`trl-${daemon.pid}-`));
      expect(statSync(join("/tmp", own!)).mode & 0o777).toBe(0o700);
      expect(await out("stat -c %a /tmp; mktemp | cut -c 1-5; echo $TMPDIR")).toBe("1777\n/tmp/\n/tmp");
    }));

  test("shows nothing of what is hidden", () => {
    writeFileSync(join(workDir, "secret"), "secret");
    mkdirSync(join(workDir, "vault"), { recursive: true });
    writeFileSync(join(workDir, "vault/key"), "key");
    const hidden = [join(workDir, "secret"), join(workDir, "vault")];
    return inside({ sandbox: { writable: [workDir], hidden } }, async ({ run }) => {
      expect((await run(`cat ${workDir}/secret; ls -A ${workDir}/vault`)).stdout).toBe("");
      await run(`mv ${workDir}/vault ${workDir}/seen; mv ${workDir}/secret ${workDir}/told`);
      expect((await run(`cat ${workDir}/*/key ${workDir}/told`)).stdout).toBe("");
    });
  });

  test("follows no link out of it", async () => {
    symlinkSync("/etc", join(place.path, "link"));
    await inside({ sandbox: { writable: [join(place.path, "link"), workDir] } }, async ({ run }) => {
      // A link that was listed means where it led when the session was made.
      await run(`rm -rf ${workDir}/x; ln -s /usr ${workDir}/x`);
      expect((await run(`touch ${workDir}/x/trl-test`)).stderr).toContain("Read-only file system");
    });
  });

  test("does not let a shell's files lead the daemon elsewhere", () =>
    inside({ sandbox: {} }, async ({ run, out }) => {
      // The shell's directory is known to its commands; in place of its report they may put what they like.
      const dir = 'd=$(dirname "$0")';
      await run("x=before");
      await run(`x=after; ${dir}; ln -sf /etc/passwd $d/state; trap - EXIT; kill -9 $$`);
      expect(await out("echo $x")).toBe("before");
      await run(`x=after; ${dir}; mkfifo $d/state; kill -9 $$`);
      expect(await out("echo $x")).toBe("before");
    }));

  needs("python3").test("is there for terminals: keys, ^C and the end", async () => {
    const isolation = { sandbox: {} };
    const terminal = await newTerminal(wire, { isolation, command: "python3", args: ["-q"] });
    // Not one long sleep: a signal that comes just before it begins would not interrupt it.
    await terminal.type("import time, os; print('begun', 6 * 7); [time.sleep(0.01) for _ in range(10000)]\n");
    await terminal.waitFor("begun 42");
    await terminal.type("\x03");
    await terminal.waitFor("KeyboardInterrupt");
    await terminal.type("open('/etc/trl-test', 'w')\n");
    await terminal.waitFor("Read-only file system");
    const closed = await newTerminal(wire, { isolation, command: "echo up; sleep 100" });
    await closed.waitFor("up"); // before, it is bwrap's, which does not hear of a closed terminal
    expect(await wire.call("pty.close", { session_id: closed.id })).toMatchObject({
      exit_code: 129,
      signal: "SIGHUP",
    });
    await terminal.type("os._exit(7)\n");
    await terminal.waitForExit();
    expect((await terminal.summary()).exit_code).toBe(7);
  });

  test("is waited for by whoever types into a terminal that is being made", async () => {
    const isolation = { sandbox: {} };
    const session_id = `early-${process.pid}`;
    const created = wire.request("pty.create", { session_id, isolation, command: "cat", args: [] });
    const written = wire.request("pty.write", { session_id, data: "typed early\n" });
    expect(await created).toMatchObject({ ok: true });
    expect(await written).toMatchObject({ ok: true });
    const { matched } = await wire.call("pty.wait", {
      session_id,
      until: { text: "typed early" },
      timeout_s: 15,
    });
    expect(matched).toBe("text");
    await wire.call("pty.close", { session_id });
  });

  test("lets a signal through to the command alone", () =>
    inside({ sandbox: {} }, async ({ id, run }) => {
      const running = run(
        "trap 'echo got it' USR1; echo $$ >/tmp/ready; sleep 0.1; while [ ! -e /tmp/end ]; do sleep 0.05; done; echo done",
      );
      const { stream_id } = (await wire.call("exec.list", {})).streams.find(
        (stream) => stream.session_id === id && stream.state === "running",
      )!;
      await Bun.sleep(300);
      await wire.call("exec.cancel", { stream_id, signal: "USR1" });
      await Bun.sleep(300);
      await wire.call("exec.cancel", { stream_id });
      const result = await running;
      expect(result.stdout).toStartWith("got it\n");
      expect(result).toMatchObject({ reason: "cancelled", exit_code: 143, signal: "SIGTERM" });
    }));
});

needs("linux", "root").describe("another root", () => {
  const root = join(place.path, "root");

  /** A shell and what it is linked with, and nothing else. */
  function makeRoot(): void {
    for (const dir of ["bin", "etc", "tmp", "dev", "proc", "usr/bin"])
      mkdirSync(join(root, dir), { recursive: true });
    const libraries = ["/bin/sh", "/bin/ls", "/usr/bin/env"].flatMap((program) => {
      const { stdout } = Bun.spawnSync(["ldd", program]);
      return [program, ...[...stdout.toString().matchAll(/(\/\S+) \(0x/g)].map((match) => match[1]!)];
    });
    for (const file of new Set(libraries)) {
      mkdirSync(join(root, file, ".."), { recursive: true });
      Bun.spawnSync(["cp", "-L", file, join(root, file)]);
    }
    writeFileSync(join(root, "etc/name"), "inside\n");
    symlinkSync("/etc", join(root, "link"));
  }
  beforeAll(makeRoot);

  test("is all that is seen", () =>
    inside({ root }, async ({ id, out, run }) => {
      expect(await out("ls /; read name </etc/name; echo $name; pwd")).toContain("inside\n/");
      expect((await run("ls /home /root")).exit_code).not.toBe(0);
      expect(await out("pwd", { working_dir: "/link" })).toBe("/etc");
      const { stateful, isolation, working_dir } = await wire.call("session.info", { session_id: id });
      expect({ stateful, working_dir, root: isolation?.root }).toEqual({
        stateful: false,
        working_dir: "/",
        root,
      });
    }));

  test("is said not to keep state, and refused where that was asked for", async () => {
    const isolation = { root };
    const { code, message } = await wire.fail("session.create", { isolation, stateful: true });
    expect(code).toBe("UNSUPPORTED");
    expect(message).toContain("nothing is carried over");
  });

  test("has its own directories: those outside do not count", async () => {
    const isolation = { root };
    const message = async (working_dir: string) =>
      (await wire.fail("session.create", { isolation, working_dir })).message;
    expect(await message("/home")).toBe("working_dir: no such directory: /home");
    expect(await message("/../../home")).toBe("working_dir: no such directory: /home");
    expect(await message("relative")).toContain("an absolute path");
  });

  test("without a shell in it is refused", async () => {
    const isolation = { root: workDir };
    const { code, message } = await wire.fail("session.create", { isolation });
    expect(code).toBe("INVALID_PARAMS");
    expect(message).toContain("/bin/sh cannot be started");
    expect((await wire.fail("session.create", { isolation: { root: "/no/such" } })).message).toBe(
      "isolation.root: no such directory: /no/such",
    );
  });

  test("holds a terminal, too", async () => {
    const isolation = { root };
    const terminal = await newTerminal(wire, { isolation });
    await terminal.type("read n </etc/name; echo I am $n\n");
    await terminal.waitFor("I am inside");
    await wire.call("pty.close", { session_id: terminal.id });
  });

  needs("sandbox").test("in a sandbox is read-only, and keeps state", () =>
    inside({ root, sandbox: { writable: ["/etc"] } }, async ({ out, run, id }) => {
      await run("x=1; cd /etc; echo more >more");
      expect(await out("echo $x; pwd; ls")).toBe("1\n/etc\nmore\nname");
      expect((await run("echo no >/bin/new")).exit_code).not.toBe(0);
      expect((await wire.call("session.info", { session_id: id })).stateful).toBeTrue();
    }),
  );
});

test("what the machine can do is told beforehand, with the reason and the remedy where it cannot", async () => {
  const { limits, root, sandbox } = await abilitiesOf(wire);
  expect(Object.keys(limits)).toEqual([
    "memory_bytes",
    "cpu_percent",
    "pids",
    "cpu_time_s",
    "open_files",
    "file_size_bytes",
    "wall_clock_s",
  ]);
  const samples = { memory_bytes: 1e9, cpu_percent: 50, pids: 50, cpu_time_s: 9, open_files: 99 };
  const asked: [Ability, Isolation][] = [
    ...Object.entries(samples).map(([name, value]): [Ability, Isolation] => [
      limits[name]!,
      { limits: { [name]: value } },
    ]),
    [root, { root: "/" }],
    [sandbox, { sandbox: {} }],
  ];
  for (const [ability, isolation] of asked) {
    if (ability.available) expect(ability.by).toBeString();
    else await expectRefused(wire, isolation, ability);
  }
});
