// Lines that are neither one builtin nor one program: they leave the session as a shell of their own would.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, startHere, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { listProcesses, signalIfThere } from "../../support/processes.ts";
import { isFast } from "../../support/requirements.ts";
import { newSession, type TestSession } from "../../support/session.ts";
import { testOf } from "../../support/shells.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
const dir = tempDir();

beforeAll(async () => {
  mkdirSync(join(dir.path, "a b/c"), { recursive: true });
  daemon = await startDaemon();
  wire = await daemon.connect();
});

afterAll(async () => {
  wire[Symbol.dispose]();
  await daemon[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

const bashSession = () => newSession(wire, { shell: "/bin/bash", working_dir: dir.path });

/** The next command starts a shell for itself, unless one was started ahead in the same moment. */
async function killWarmShells(): Promise<void> {
  let hadSome = !isFast("warm-shells");
  await until("the end of the warm shells", () => {
    const shells = listProcesses().filter(({ ppid }) => ppid === daemon.pid);
    for (const { pid } of shells) signalIfThere(pid, "SIGKILL");
    hadSome ||= shells.length > 0;
    return hadSome && shells.length === 0;
  });
}

const ways: [name: string, before: () => Promise<void>][] = [
  ["in a warm shell", async () => {}],
  ["in a shell that is started for them", killWarmShells],
];

for (const [name, before] of ways)
  describe(`${name}, lines that change directory keep all else:`, () => {
    async function session(): Promise<TestSession> {
      const made = await bashSession();
      await made.run("x='1 2'; export Y=3; f() { echo f $1; }; umask 027");
      await before();
      return made;
    }

    test("a list", async () => {
      const { out, run } = await session();
      expect(await out(`cd 'a b' && ls`)).toBe("c");
      await before();
      expect(await run("cd c && ls missing")).toMatchObject({ exit_code: 2 });
      await before();
      expect(await out('pwd; echo "$OLDPWD"')).toBe(`${dir.path}/a b/c\n${dir.path}/a b`);
      expect(await out("/usr/bin/env | grep ^OLDPWD=")).toBe(`OLDPWD=${dir.path}/a b`);
      expect(await out('echo "$x" $Y; f z; umask; bash -c "echo \\$Y"')).toBe("1 2 3\nf z\n0027\n3");
      expect(await out("cd - >/dev/null && /bin/pwd")).toBe(`${dir.path}/a b`);
    });

    test("one that fails on its way, or goes nowhere", async () => {
      const { out, run } = await session();
      expect(await run("cd /missing && ls")).toMatchObject({ exit_code: 1 });
      await before();
      expect(await run("cd 'a b' && cd missing; ls -d nothing")).toMatchObject({ exit_code: 2 });
      expect(await out("pwd")).toBe(`${dir.path}/a b`);
      await before();
      await run("ls | cd c");
      expect(await out("pwd")).toBe(`${dir.path}/a b`);
    });

    test("what is given to one of them alone is not kept", async () => {
      const { out } = await session();
      expect(await out("cd /usr && ls -d .", { env: { Z: "1" } })).toBe(".");
      expect(await out("echo ${Z-none}; pwd")).toBe("none\n/usr");
      await before();
      expect(await out("ls -d c && cd /", { working_dir: join(dir.path, "a b") })).toBe("c");
      expect(await out("pwd")).toBe("/");
      await before();
      expect(await out("cd . && ls -d c", { working_dir: join(dir.path, "a b") })).toBe("c");
      expect(await out("pwd")).toBe("/");
    });

    test("a directory that is removed under them", async () => {
      const { out, run } = await session();
      await out("mkdir gone && cd gone && ls");
      await before();
      await run("rmdir ../gone");
      await before();
      expect(await out("cd / && ls -d .")).toBe(".");
      expect(await out("pwd")).toBe("/");
    });
  });

for (const [name, before] of ways)
  describe(`${name}, lines that report little or nothing`, () => {
    /** Of the first kind, then of the second; each leaves the session in "a b". */
    async function runBoth({ out }: TestSession): Promise<void> {
      await before();
      expect(await out("cd 'a b' && ls")).toBe("c");
      await before();
      expect(await out("ls | cat", { env: { A: "a" } })).toBe("c");
      await before();
    }

    testOf("lines of functions")("leave functions at their lines", async () => {
      const session = await bashSession();
      await session.out("\n\nf() {\n  echo $LINENO\n}\ng() { echo g; }; export -f g");
      await runBoth(session);
      expect(await session.out("f; bash -c g; h() {\n  echo $LINENO\n}")).toBe("4\ng");
      await runBoth({ ...session, out: (line, more) => session.out(line.replace("'a b'", "."), more) });
      expect(await session.out("f; h; pwd")).toBe(`4\n2\n${dir.path}/a b`);
    });

    test.each([".", "return", "exit", "exec", "pwd", "printf", "source"])(
      "are not changed by a function named %s",
      async (hidden) => {
        const session = await bashSession();
        await session.out(`function ${hidden} { echo hidden; }; x=1`);
        await runBoth(session);
        expect(await session.out(`echo $x $OLDPWD; ${hidden}; /bin/pwd`)).toBe(
          `1 ${dir.path}\nhidden\n${dir.path}/a b`,
        );
      },
    );

    test.each(["{", "}", "[["])("are not changed by an alias named %s", async (alias) => {
      const session = await bashSession();
      await session.out(`alias '${alias}=echo brace'; x=1`);
      await runBoth(session);
      expect(await session.out("echo $x; pwd; alias")).toBe(
        `1\n${dir.path}/a b\nalias ${alias}='echo brace'`,
      );
    });

    testOf("names of exported functions as those of bash 5")(
      "use the functions that they are given, and lose them",
      async () => {
        const { out } = await bashSession();
        const functions = (...names: string[]) =>
          Object.fromEntries(names.map((each) => [`BASH_FUNC_${each}%%`, `() { x=${each}; echo given; }`]));
        await before();
        expect(await out("cd 'a b' && ls", { env: functions("ls") })).toBe("given");
        await before();
        expect(await out("cd c && ls | cat", { env: functions("cd") })).toBe("given\nc");
        expect(await out("pwd; echo $x")).toBe(`${dir.path}/a b\ncd`);
        await before();
        for (const line of ["test -d / && echo yes", "[ -d / ] && echo yes", "printf yes"])
          expect(await out(line, { env: functions("test", "[", "printf") })).toStartWith("given");
        expect(await out("declare -F; cd / && ls -d .")).toBe(".");
      },
    );

    testOf("lists without trl's functions")(
      "find no trace of the shell's own variables and functions",
      async () => {
        const session = await bashSession();
        await session.out("f() { echo f; }");
        await runBoth(session);
        for (const line of [
          "cd c && set | cat",
          "ls; declare -F",
          "ls; declare -p",
          "cd ..; compgen -v",
          "env | cat",
        ]) {
          expect(await session.out(line)).not.toContain("__trl");
          await before();
        }
        expect(await session.out("f; pwd")).toBe(`f\n${dir.path}/a b`);
      },
    );

    test("are where the session's directory was, once it is removed", async () => {
      const { out, run } = await bashSession();
      await out("function . { echo hidden; }; mkdir -p own/keep/lost && cd own/keep/lost && umask 377");
      writeFileSync(`${dir.path}/own/keep/mine`, "");
      for (const remove of ["rmdir ../lost", "rm -rf ../../keep"]) {
        await out(remove);
        await before();
        expect(await out("ls -A | cat")).toBe("");
        await before();
        expect(await run("ls missing | cat; cd missing")).toMatchObject({ exit_code: 1, stdout: "" });
        expect(await out("pwd")).toBe(`${dir.path}/own/keep/lost`);
      }
      expect(readdirSync(`${dir.path}/own`)).toEqual([]);
      await before();
      expect(await out("cd ../.. && ls -A | cat")).toBe("");
      expect(await out("pwd; umask; cd .. && rmdir own")).toBe(`${dir.path}/own\n0377`);
    });
  });

testOf(
  "a warm shell of one process",
  "bash",
  "linux",
  "warm-shells",
)("no command is given to a warm shell that was killed a moment before", async () => {
  const { out } = await bashSession();
  const shells = () => listProcesses().filter(({ ppid }) => ppid === daemon.pid);
  for (let i = 0; i < 5; i++) {
    await until("a warm shell", () => shells().length > 0);
    // The daemon finds the request first, and behind it the end of the shell.
    process.kill(daemon.pid, "SIGSTOP");
    const printed = out("ls -d / | cat");
    for (const { pid } of shells()) signalIfThere(pid, "SIGKILL");
    await until("its end", () => shells().length === 0);
    process.kill(daemon.pid, "SIGCONT");
    expect(await printed).toBe("/");
  }
});

needs("sandbox").test("lines in a sandbox that hides more than before keep all else", async () => {
  using run = tempDir();
  const session = await newSession(wire, {
    ...{ shell: "/bin/bash", working_dir: dir.path, isolation: { sandbox: { private_tmp: false } } },
  });
  await session.out("x=1; f() { echo f; }"); // the warm shell has a view of what is there now
  await using other = await startHere({
    flags: ["--socket-path", join(run.path, "trl.sock"), "--run-dir", run.path],
    env: { TRL_RUNTIME_DIR: daemon.dir },
  });
  expect(readFileSync(join(run.path, "trl.token"), "utf8")).not.toBe("");
  expect((await session.run(`cd 'a b' && cat ${run.path}/trl.token; ls`)).stdout).toBe("c\n");
  expect(await session.out("echo $x; f; pwd")).toBe(`1\nf\n${dir.path}/a b`);
  process.kill(other.pid, 0);
  await wire.call("session.destroy", { session_id: session.id });
});

test("aliases act on such lines", async () => {
  const { out, run } = await bashSession();
  await run("alias cd='moved=1; cd'");
  expect(await out("cd /usr && ls -d .")).toBe(".");
  expect(await out("echo $moved; pwd")).toBe("1\n/usr");
});

test("conditions and formats", async () => {
  const { out, run } = await bashSession();
  expect(await out("test -d 'a b' && echo yes")).toBe("yes");
  expect(await run("[ -f 'a b' ]")).toMatchObject({ exit_code: 1, stdout: "" });
  expect(await out("printf '%s-' a b")).toBe("a-b-");
  expect(await run("test a -eq b")).toMatchObject({ exit_code: 2 });
  expect((await run("test a -eq b")).stderr).toMatch(/line 1: test: a: integer expression expected/);
  expect(await out("printf '%d%n' 7 x; printf -v y %s z; echo; test -v 'a[w=5]'; echo $x $y $w")).toBe(
    "7\n1 z 5",
  );
  await run("test() { echo mine; }");
  expect(await out("test -d /")).toBe("mine");
});

test("a loop leaves its variable, and what its list assigns", async () => {
  const { out, run } = await bashSession();
  expect(await out("for i in 1 '2 3' *; do echo \"$i\"; last=$i; done")).toBe("1\n2 3\na b");
  await killWarmShells();
  expect(await out('echo "$i" "$last"')).toBe("a b a b");
  expect(await out("for i in 4; do cd 'a b'; done; pwd")).toBe(`${dir.path}/a b`);
  expect(await out("echo $i")).toBe("4");
  await run("readonly i");
  expect(await run("for i in 5; do echo $i; done")).toMatchObject({ exit_code: 1 });
  expect(await out("echo $i")).toBe("4");
});
