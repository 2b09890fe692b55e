// Commands that are one program: the daemon starts it itself, or the shell becomes it. No client can tell it from one
// that a shell has started and waits for.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { startDaemon, startHere, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { childrenOf } from "../../support/processes.ts";
import { Random } from "../../support/random.ts";
import { newSession, type TestSession } from "../../support/session.ts";
import { shellFor, testOf } from "../../support/shells.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon();
  wire = await daemon.connect();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const bash = { shell: "/bin/bash" };

/** The same for a daemon that starts it, a shell that becomes it, and a shell that starts it. */
const waysOf = (command: string) => [
  command,
  `${command} $nothing`,
  `true; ${command}; status=$?; (exit $status)`,
];

describe.each([
  ["that the daemon starts", ""],
  ["that the shell becomes", " $nothing"],
])("a program %s", (_, more) => {
  test("is missed in the usual words", async () => {
    const { run } = await newSession(wire, bash);
    const missing = await run(`no-such-program a${more}`);
    expect(missing.exit_code).toBe(127);
    expect(missing.stderr).toMatch(/bash: line 1: no-such-program: command not found\n$/);
    expect(await run(`/no/such${more}`)).toMatchObject({ exit_code: 127 });
    const nowhere = await run(`ls${more} >/no/such/file`);
    expect(nowhere.exit_code).toBe(1);
    expect(nowhere.stderr.match(/No such file/g)).toHaveLength(1);
  });

  test("is as deep as it would be otherwise, and knows its name", async () => {
    const { out } = await newSession(wire, bash);
    const depth = await out(`sh -c 'echo $SHLVL'${more}`);
    expect(await out("true; sh -c 'echo $SHLVL'; true")).toBe(depth);
    expect(await out(`printenv _${more}`)).toMatch(/\/printenv$/);
  });

  // A shell that waits for its program reports the exit code alone.
  testOf(
    "programs without a shell",
    "bash",
    "short-reports",
  )("that dies by a signal says so, also when the session has a state", async () => {
    const { run, out } = await newSession(wire, bash);
    await out("x=1; f() { :; }");
    expect(await run(`sh -c 'kill -SEGV $$'${more}`)).toMatchObject({
      exit_code: 139,
      signal: "SIGSEGV",
      reason: "signal",
    });
    expect(await out("echo $?")).toBe("139");
  });

  // Direct exec starts it, as no shell would exec it.
  needs("direct-exec").test(
    "that has a relative path and dies by a signal says so, on any machine",
    async () => {
      const { run } = await newSession(wire, { ...bash, working_dir: daemon.dir });
      const name = `crash${more.length}`;
      writeFileSync(`${daemon.dir}/${name}`, "#!/bin/sh\nkill -SEGV $$\n", { mode: 0o755 });
      for (let i = 0; i < 5; i++)
        expect(await run(`./${name}`)).toMatchObject({ exit_code: 139, signal: "SIGSEGV", stderr: "" });
    },
  );

  test("is not taken by a function of the name of that word", async () => {
    const env = { "BASH_FUNC_exec%%": '() { echo EXECFN "$@"; }' };
    const { out } = await newSession(wire, { ...bash, env });
    expect(await out(`printenv PWD${more}`)).toBe("/tmp");
  });

  test("may be found by a name that the session made", async () => {
    const { out } = await newSession(wire, { ...bash, working_dir: daemon.dir });
    const dir = `own${more.length}`;
    await out(`mkdir -p ${dir}; printf '#!/bin/sh\\necho own $0 "$@"\\n' >${dir}/tool`);
    await out(`chmod +x ${dir}/tool; PATH=$PWD/${dir}:$PATH`);
    expect(await out(`tool 'a b' c${more}`)).toBe(`own ${daemon.dir}/${dir}/tool a b c`);
    expect(await out(`./${dir}/tool${more}`)).toBe(`own ./${dir}/tool`);
    await out(`rm ${dir}/tool; tool() { echo function; }`);
    expect(await out(`tool${more}`)).toBe("function");
  });

  test("that runs leaves the words before it as they were", async () => {
    const { out } = await newSession(wire, bash);
    await out("set -- a b; x=1; shopt -s nullglob; set -f");
    expect(await out(`expr 1 + 1${more}`)).toBe("2");
    expect(await out('echo "$# $x $-"')).toMatch(/^2 1 .*f/);
  });
});

describe("a program", () => {
  // Without short-reports no shell would exec the program, so the daemon starts it whatever the load is.
  needs("direct-exec", "in-place").test(
    "that the daemon starts uses up no shell, whatever the session has exported",
    async () => {
      await using direct = await startHere({ env: { TRL_FAST: "-short-reports" } });
      using own = await direct.connect();
      const { id, out, run } = await newSession(own, bash);
      const pid = await out("echo $BASHPID");
      expect(await out("/bin/echo hello")).toBe("hello");
      expect((await run("/bin/false")).exit_code).toBe(1);
      expect(await out("printenv SHLVL;")).toBe("1");
      expect(await out("echo $BASHPID")).toBe(pid);
      for (const value of values) {
        await run("f() { :; }; unset HOME; true");
        await run(`export A=${quoted(value)}`);
        await own.call("session.info", { session_id: id }); // knows what that has changed
        const another = await out("echo $BASHPID");
        expect((await run("printenv A")).stdout).toBe(`${value}\n`);
        expect(await out("echo $BASHPID")).toBe(another);
      }
    },
  );

  test("has its input, its directory, and a number that the next command is told", async () => {
    const { out, run } = await newSession(wire, bash);
    expect(await out("cat", { stdin: "text" })).toBe("text");
    expect(await out("/bin/pwd", { working_dir: "/usr" })).toBe("/usr");
    expect(await out("printenv PWD", { working_dir: "/usr" })).toBe("/usr");
    expect((await run("/bin/pwd")).working_dir).toBe("/tmp");
    await run("sh -c 'exit 7'");
    expect(await out("echo $?")).toBe("7");
    expect(await out("/bin/pwd")).toBe("/tmp");
  });

  test("has its words byte for byte", async () => {
    const { run } = await newSession(wire, bash);
    const { stdout } = await run(
      `/usr/bin/printf '%s|' '' a=b "c  d" 'e"$f\`\\' g''"h" --i=j,k:l@m%n+o^p äö '\u{1f600}' 'two\nlines'`,
    );
    expect(stdout).toBe(
      ["", "a=b", "c  d", 'e"$f`\\', "gh", "--i=j,k:l@m%n+o^p", "äö", "\u{1f600}", "two\nlines", ""].join(
        "|",
      ),
    );
  });

  test("that is no program is a shell's to read, or to complain about", async () => {
    const { run, out } = await newSession(wire, { ...bash, working_dir: daemon.dir });
    const dir = `${daemon.dir}/odd`;
    mkdirSync(dir);
    writeFileSync(`${dir}/text`, "echo read by $BASH\n", { mode: 0o755 });
    writeFileSync(`${dir}/plain`, "echo no\n", { mode: 0o644 });
    expect(await out(`${dir}/text`)).toBe(`read by ${shellFor("/bin/bash")}`);
    expect(await run(dir)).toMatchObject({
      exit_code: 126,
      stderr: expect.stringContaining("Is a directory"),
    });
    expect(await run(`${dir}/plain`)).toMatchObject({
      exit_code: 126,
      stderr: expect.stringContaining("Permission denied"),
    });
    await out(`PATH=${dir}:$PATH`);
    expect(await out("text")).toBe(`read by ${shellFor("/bin/bash")}`);
    writeFileSync(`${dir}/ls`, "#!/no/such/interpreter\n", { mode: 0o755 });
    expect(await run("ls")).toMatchObject({ exit_code: 127, stderr: expect.stringContaining(`${dir}/ls`) });
    chmodSync(`${dir}/ls`, 0o644); // the next one of that name is meant
    expect(await out("ls /usr/bin/env")).toBe("/usr/bin/env");
  });

  test("in a directory that has been removed", async () => {
    const { out, run } = await newSession(wire, { ...bash, working_dir: daemon.dir });
    mkdirSync(`${daemon.dir}/gone`);
    await out("cd gone");
    rmSync(`${daemon.dir}/gone`, { recursive: true });
    expect((await run("/bin/pwd")).exit_code).not.toBe(0);
    expect(await out("printenv PWD")).toBe(`${daemon.dir}/gone`);
    mkdirSync(`${daemon.dir}/gone`);
    expect(await out("/bin/pwd")).toBe(`${daemon.dir}/gone`);
  });

  test("is not given what is no longer exported", async () => {
    const { out, run } = await newSession(wire, { ...bash, env: { GIVEN: "1" } });
    await out("export -n GIVEN");
    for (const way of waysOf("printenv GIVEN")) expect((await run(way)).exit_code).toBe(1);
    expect(await out("echo $GIVEN; export GIVEN")).toBe("1");
    for (const way of waysOf("printenv GIVEN")) expect(await out(way)).toBe("1");
  });

  test("makes files with the session's mask", async () => {
    const { out } = await newSession(wire, { ...bash, working_dir: daemon.dir });
    await out("touch usual; umask 077");
    await out("touch private");
    expect(await out("stat -c %a usual private")).toBe("644\n600");
    await out("umask 022");
    await out("touch again");
    expect(await out("stat -c %a again")).toBe("644");
  });

  test("is not what an alias or a function of its name stands for", async () => {
    const { out } = await newSession(wire, bash);
    await out("alias ls='echo alias'; expr() { echo function; }");
    expect(await out("ls")).toBe("alias");
    expect(await out("expr 1 + 1")).toBe("function");
    await out("unalias ls; unset -f expr");
    expect(await out("expr 1 + 1")).toBe("2");
  });

  test("is stopped, and what it has started with it", async () => {
    const { run, out } = await newSession(wire, bash);
    await out("x=1");
    await expect(run("sh -c 'sleep 1000 & sleep 1000'", { timeout_s: 0.2 })).rejects.toThrow(
      "COMMAND_TIMEOUT",
    );
    expect(await out("echo $x")).toBe("1");
  });
});

const values = [
  "plain",
  "two words",
  "",
  "it's",
  'a "quoted" $x `y` \\z!',
  "new\nline",
  "tab\t",
  "\x1b[1m\x07\b\v\f\r",
  "äöü",
  "\x7f",
  "\\n",
  "a=b",
  "~",
  "*",
  "-n",
  "\xa0",
  "()",
  "() { :; }",
  "'",
  "declare -x EVIL=1\ndeclare -x MORE=2\n",
  "\u{1f600}",
]; // prettier-ignore
const names = ["A", "B", "C", "LC_X", "GIVEN", "TERM", "PS1", "PATH_X", "HOME"];
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function randomChange(random: Random): string {
  const name = random.pick(names);
  const value = quoted(random.pick(values));
  const make: (() => string)[] = [
    () => `export ${name}=${value}`,
    () => `export ${name}=${value}; export ${random.pick(names)}=${quoted(random.pick(values))}`,
    () => `${name}=${value}`,
    () => random.pick([`unset ${name}`, `export -n ${name}`, `export ${name}`, `declare +x ${name}`]),
    () => `cd ${random.pick(["/", "/usr", "/tmp", "-", "/usr/bin/.."])} >/dev/null`,
    () =>
      random.pick([
        "f() { :; }",
        "unset -f f",
        "export -f f 2>/dev/null",
        "shopt -s extglob",
        "shopt -u extglob",
      ]),
    () =>
      random.pick([
        `readonly R=1`,
        "declare -ax L=(1 2)",
        "declare -ix N=4",
        "declare -ux U=abc",
        "export E",
      ]),
    () =>
      random.pick(["set -f", "set +f", "umask 027", "umask 022", "set -- a b", "SHLVL=7", "unset OLDPWD"]),
  ];
  return random.pick(make)();
}

/** By name; what is another for each command is not compared. */
async function environment({ out }: TestSession, command: string): Promise<Record<string, string>> {
  const entries = (await out(command)).split("\0").filter((entry) => entry.includes("="));
  const pairs = entries.map((entry) => [
    entry.slice(0, entry.indexOf("=")),
    entry.slice(entry.indexOf("=") + 1),
  ]);
  const { TRL_COMMAND_ID: id, ...rest } = Object.fromEntries(pairs) as Record<string, string>;
  expect(id).toMatch(/^x-/);
  return rest;
}

test("a program is given the same, whoever starts it and whatever the session has done", async () => {
  const seed = Number(process.env["TRL_SEED"] ?? 20261);
  for (let round = 0; round < 5; round++) {
    const random = Random.for(seed, "programs", round);
    const session = await newSession(wire, {
      ...bash,
      env: { GIVEN: random.pick(values), "odd.name": "odd" },
    });
    for (let step = 0; step < 12; step++) {
      const change = step === 0 ? "true" : randomChange(random);
      await session.run(change);
      const [byDaemon, ...others] = await inTurn(waysOf("/usr/bin/env -0"), (way) =>
        environment(session, way),
      );
      for (const other of others)
        expect({ round, step, change, ...byDaemon }).toEqual({ round, step, change, ...other });
    }
  }
});

async function inTurn<T, R>(items: T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await act(item));
  return results;
}

describe("what comes right behind a program", () => {
  test("finds one shell, and keeps what it changes", async () => {
    await using own = await startDaemon(); // without the shells of other sessions
    using its = await own.connect();
    const { run, out } = await newSession(its, bash);
    await out("x=0; (true)");
    for (let i = 1; i <= 60; i++) {
      await run("/bin/true");
      await run(`x=${i}; (true)`); // takes a shell for itself
      await run("/bin/true");
      expect(await out('echo "$x"')).toBe(`${i}`); // is a visit
    }
    // The session's one shell that waits for its next command may stay.
    await until("shells that are left over go", () => childrenOf(own.pid).length <= 1);
  });

  needs("linux").test("the daemon's own input is nobody's", async () => {
    const { run } = await newSession(wire, bash);
    const input = () => readlinkSync(`/proc/${daemon.pid}/fd/0`);
    const before = input();
    for (let i = 0; i < 100; i++) {
      await run("/bin/true");
      await run("y=1; (true)");
    }
    expect(input()).toBe(before);
  });
});

test("variables that every shell has for itself are not passed on", async () => {
  const { run, out } = await newSession(wire, { ...bash, env: { PS1: "x", PS2: "y", KEPT: "z" } });
  for (const command of ["printenv PS1 PS2 KEPT", "true; printenv PS1 PS2 KEPT"])
    expect(await run(command)).toMatchObject({ stdout: "z\n", exit_code: 1 });
  await out("export PS1=mine");
  expect(await out("printenv PS1")).toBe("mine");
  const odd = await newSession(wire, { ...bash, env: { OPTIND: "7", PS4: "q" } });
  expect(await odd.out("printenv OPTIND PS4")).toBe(await odd.out("true; printenv OPTIND PS4"));
});

needs("linux").test("a program that leaves the session is waited for as a shell would", async () => {
  const { run } = await newSession(wire, bash);
  for (const setsid of ["setsid", "/usr/bin/setsid", "env setsid", "nice setsid"])
    expect(await run(`${setsid} sh -c 'sleep 0.1; echo hi; exit 3'`)).toMatchObject({
      stdout: "hi\n",
      exit_code: 3,
    });
});
