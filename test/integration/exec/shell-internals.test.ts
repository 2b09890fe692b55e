// The machinery of a session's shell beside commands that could meet it: by names, by lists, by where they stand.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs, needsShell } from "../../support/needs.ts";
import { newSession } from "../../support/session.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon({ flags: ["--max-sessions", "1000"] });
  wire = await daemon.connect();
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** In a directory of its own. */
let made = 0;
async function sessionIn(shell: string, params: Record<string, unknown> = {}) {
  const dir = `${daemon.dir}/own-${made++}`;
  mkdirSync(dir);
  return { dir, ...(await newSession(wire, { shell, working_dir: dir, ...params })) };
}

for (const shell of ["bash", "zsh", "dash"])
  needsShell(shell).describe(`a session of ${shell} whose directory was removed`, () => {
    test("goes up to the directory that it was in", async () => {
      const { dir, out } = await sessionIn(shell);
      await out("mkdir -p keep/lost && cd keep/lost && rmdir ../lost");
      expect(await out("pwd; ls -A")).toBe(`${dir}/keep/lost`);
      writeFileSync(`${dir}/keep/mine`, "");
      expect(await out("cd ..; pwd; ls -A")).toBe(`${dir}/keep\nmine`);
      expect(await out("pwd")).toBe(`${dir}/keep`);
      expect(readdirSync(`${dir}/keep`)).toEqual(["mine"]);
    });

    test("is as in one shell, where the directories above were removed as well", async () => {
      const { dir, out, run } = await sessionIn(shell);
      const remove = "mkdir -p a/b/lost && cd a/b/lost && rm -rf ../../b";
      const leave = "cd ..; echo $?; pwd; cd ..; pwd; ls -A";
      const plain = Bun.spawnSync([shell, "-c", `${remove}\n${leave}`], { cwd: dir, stderr: "pipe" });
      await out(remove);
      expect((await run(leave)).stdout).toBe(plain.stdout.toString());
      expect(await out(`cd ${dir} && pwd`)).toBe(dir);
      expect(readdirSync(`${dir}/a`)).toEqual([]);
    });

    test("does not come to the machinery's files, where the directory cannot be made again", async () => {
      const { dir, out, run } = await sessionIn(shell);
      await out(`mkdir -p a/lost && cd a/lost && rm -rf ${dir}/a && echo mine > ${dir}/a`);
      expect((await run("touch x")).exit_code).not.toBe(0);
      expect((await run("cd ..; ls -A; cd ../../..; ls -A")).stdout).toBe("");
      expect(await out(`cat ${dir}/a; cd ${dir}; pwd`)).toBe(`mine\n${dir}`);
      expect(await out("pwd; ls -A")).toBe(`${dir}\na`);
    });

    test("has its directory again, where that was made meanwhile", async () => {
      const { dir, out } = await sessionIn(shell);
      await out("mkdir lost && cd lost && rmdir ../lost");
      mkdirSync(`${dir}/lost`);
      writeFileSync(`${dir}/lost/mine`, "");
      expect(await out("pwd; ls")).toBe(`${dir}/lost\nmine`);
    });
  });

test("a variable is kept that is assigned behind a redirection of a descriptor of two digits", async () => {
  const { out } = await sessionIn("bash");
  await out("printf 12>/dev/null -v x hi");
  expect(await out("echo $x")).toBe("hi");
});

test("a handler on EXIT leaves BASH_REMATCH as it is", async () => {
  const { out } = await sessionIn("bash");
  expect(await out("[[ abc =~ b(.) ]]; trap 'echo bye' EXIT; echo ${BASH_REMATCH[1]}")).toBe("c\nbye");
});

describe("a kept function of bash", () => {
  const lines = ["", "f() {", "  echo $LINENO", "  nosuchprogram", "}", "h() (", "  echo $LINENO", ")"].join(
    "\n",
  );

  test("counts lines from where it was defined", async () => {
    const { out, run } = await sessionIn("bash");
    await out(lines);
    for (const command of ["f", "x=1", "\n\n\nf", "y=2; f; x=3", "f"]) await run(command);
    const { stdout, stderr } = await run("f; h");
    expect(stdout).toBe("3\n7\n");
    expect(stderr).toContain("line 4: nosuchprogram");
  });

  test("counts so beside others that were defined at the same lines, and beside text that looks like them", async () => {
    const { out, run } = await sessionIn("bash");
    await out(lines);
    await out("\n\ng() {\n  echo $LINENO\n  cat <<E\nf () \n{ \nE\n}");
    expect((await run("g; h; declare -f g | sed -n 5,6p")).stdout).toBe("4\nf () \n{ \n7\nf () \n{ \n");
    await out("f() { echo another; }");
    expect(await out("f; g | head -n 1; h")).toBe("another\n4\n7");
  });
});

describe("bash does not list the machinery", () => {
  const listing = [
    "set",
    "declare -F",
    "declare -f",
    "declare -p",
    "typeset",
    "compgen -A function",
    "compgen -v",
  ];
  for (const command of listing)
    test(`for ${command}`, async () => {
      const { out } = await sessionIn("bash");
      expect(await out(`x=1; ${command}; true`)).not.toContain("__trl");
      expect(await out("echo $x")).toBe("1");
      await out(`f() { echo f; }; alias ll='ls -l'; shopt -s dotglob; false; ${command}; y=2`);
      expect(await out(`${command} | grep -c __trl; echo $y`)).toBe("0\n2");
      expect(await out("f; shopt -q dotglob && alias")).toBe("f\nalias ll='ls -l'");
    });

  test("for set -v, but for the hook", async () => {
    const { run } = await sessionIn("bash");
    expect((await run("set -v; declare -F; x=1")).stderr.length).toBeLessThan(1000);
    expect((await run("set +v; echo $x")).stdout).toBe("1\n");
  });

  test("and keeps what a listing command does with aliases, options and its status", async () => {
    const { out, run } = await sessionIn("bash");
    await out("alias builtin=echo if=echo; set -u; declare -F; x=1");
    expect((await run("set >/dev/null; y=2; exit 3")).exit_code).toBe(3);
    expect(await out("echo $? $x $y; alias")).toBe("3 1 2\nalias builtin='echo'\nalias if='echo'");
  });
});

describe("a session stays whole with", () => {
  test.each(["{", "}"])("an alias named %s", async (name) => {
    const { out, run } = await sessionIn("bash");
    await out(`alias '${name}=echo brace'; x=1`);
    expect(await out("echo $x; trap 'echo bye' EXIT; y=2")).toBe("1\nbye");
    expect((await run("exit 3")).stderr).toBe("");
    expect(await out("echo $? $y; alias")).toBe(`3 2\nalias ${name}='echo brace'`);
  });

  for (const shell of ["bash", "zsh"])
    for (const name of [".", "return", "exit", "command", "source", "eval"])
      needsShell(shell).test(`a function of ${shell} named ${name}`, async () => {
        const { out, run } = await sessionIn(shell);
        await out(`function ${name} { echo hidden; }; x=1`);
        const given = { env: { A: "a" }, stdin: "text" };
        expect(await out("echo $x $A; y=2; printenv TRL_COMMAND_ID | wc -l; cat", given)).toBe(
          "1 a\n1\ntext",
        );
        await run("false");
        expect(await out("echo $?")).toBe("1");
        expect(await out(`echo $y; ${name}`)).toBe("2\nhidden");
      });

  test("a function named builtin in its environment", async () => {
    const { out } = await sessionIn("bash", { env: { "BASH_FUNC_builtin%%": "() { echo B; }" } });
    await out("x=1; cd /usr");
    expect(await out("echo $x; pwd; builtin echo yes")).toBe("1\n/usr\nyes");
  });

  test("builtins switched off for one command", async () => {
    const { out } = await sessionIn("bash");
    await out("x=1");
    await out("enable -n builtin; y=2");
    await out("enable -n printf cd; y=3");
    expect(await out("echo $x; cd /usr; pwd; printf '%s\\n' done")).toBe("1\n/usr\ndone");
  });

  needs("zsh").test("a FUNCNEST that allows zsh no function", async () => {
    const { out, run } = await sessionIn("zsh");
    expect((await run("FUNCNEST=0; x=1")).stderr).toBe("");
    await out("y=2", { env: { FUNCNEST: "0" } });
    expect(await out("echo $x $y")).toBe("1 2");
  });
});

describe("what a command of bash is given for itself alone", () => {
  const given = (name: string, text: string) => ({ [`BASH_FUNC_${name}%%`]: `() { echo ${text}; }` });

  test("may be functions, which are as they were before after it", async () => {
    const { out, run } = await sessionIn("bash");
    await out("f() { echo mine; }; export -f f");
    const env = { ...given("f", "given"), ...given("g", "new"), ...given("[", "bracket") };
    expect(await out("f; g; [ 1 ]; bash -c f; x=1", { env })).toBe("given\nnew\nbracket\ngiven");
    expect(await out("f; bash -c f; echo $x; declare -F")).toBe("mine\nmine\n1\ndeclare -fx f");
    expect((await run("g")).exit_code).toBe(127);
    expect(await out("f() { echo other; }; trap f EXIT", { env })).toBe("other");
    expect(await out("f")).toBe("mine");
  });

  test("may be functions that hide builtins", async () => {
    const { out } = await sessionIn("bash");
    const names = ["builtin", "unset", ".", "trap", "export", "exec", "declare", "return", "eval", "shopt"];
    const env = Object.assign({ A: "a" }, ...names.map((name) => given(name, "given")));
    expect(await out("x=1; cd /usr; echo $A; builtin; unset; trap", { env })).toBe("a\ngiven\ngiven\ngiven");
    expect(await out("echo $x ${A-none}; pwd; declare -F")).toBe("1 none\n/usr");
  });

  test("changes no options and no aliases of the session", async () => {
    const { out } = await sessionIn("bash");
    const before = await out("x=1; echo $SHELLOPTS; alias");
    await out("x=2", { env: { POSIXLY_CORRECT: "1", IGNOREEOF: "3", BASH_ALIASES: "x", BASH_CMDS: "y" } });
    expect(await out("x=$(echo 3); echo $SHELLOPTS; alias")).toBe(before);
    await out("set -o posix; set -o ignoreeof");
    const after = await out("x=4; echo $SHELLOPTS");
    await out("x=$(echo 5)", { env: { POSIXLY_CORRECT: null, IGNOREEOF: null } });
    expect(await out("echo $SHELLOPTS")).toBe(after);
  });
});
