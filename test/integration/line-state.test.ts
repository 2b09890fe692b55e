// Lines that are neither one builtin nor one program: they leave the session as a shell of their own would.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { listProcesses } from "../support/processes.ts";
import { newSession, type TestSession } from "../support/session.ts";
import { tempDir } from "../support/temp-dir.ts";
import { until } from "../support/wait.ts";
import type { Wire } from "../support/wire.ts";

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
  let hadSome = false;
  await until("the end of the warm shells", () => {
    const shells = listProcesses().filter(({ ppid }) => ppid === daemon.pid);
    for (const { pid } of shells) process.kill(pid, "SIGKILL");
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
