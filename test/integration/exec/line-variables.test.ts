// Lines that assign report only the variables that they name: the session has to be what one bash would be after all of
// them. Lines are drawn by chance, from a seed, and a real bash runs the same ones as one script.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { Random } from "../../support/random.ts";
import { newSession } from "../../support/session.ts";
import { shellFor } from "../../support/shells.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon({ env: { given: "by the daemon" } });
  wire = await daemon.connect();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const names = ["a", "b", "c", "given", "whole", "of_session"];
const values = [
  ...["1", "'it is' ", '"$a $b"', "$(echo hi)", `"$(printf 'x\\n\\ty')"`, "$(false)", '"$(cd / && pwd)"'],
  ...["'$(no) `x`'", "", "~", "$given$c", '"$(echo "$a" | tr a-z A-Z; exit 3)"', "'\"\\'", "[*]"],
];

function lineFrom(random: Random): string {
  const name = () => random.pick(names);
  const value = () => random.pick(values);
  return random.pick([
    () => `${name()}=${value()}`,
    () => `${name()}+=${value()} && echo $a >/dev/null`,
    () => `${name()}=${value()} ${name()}=${value()}`,
    () => `${name()}=${value()} true; ${name()}=${value()}`,
    () => `cd ${random.pick(["/", "/usr", "bin", "..", "-"])} >/dev/null 2>&1; ${name()}=$(pwd)`,
    () => `false && ${name()}=${value()}`,
    () => `${name()}=${value()} | cat`,
    () => `${name()}=${value()} ; cd /missing 2>/dev/null`,
    () => `export ${name()}=${value()}`,
    () => `export ${name()}`,
    () => `unset ${name()}`,
    () => `unset ${name()} && ${name()}=${value()}`,
    () => `declare -i whole`,
    () => `for ${name()} in 1 ${value()} 3; do ${name()}=${value()}; done`,
    () => `for n in $(echo x y) ${value()}; do ${name()}+=$n; echo $n | cat >/dev/null; done`,
    () => `for ${name()} in a b; do cd /usr; export ${name()}; done`,
    () => `echo "$a"; ${name()}=${value()}; export ${name()}=${value()}`,
    () => `echo $(ls /) "$a" >/dev/null`,
    () => `ls / >/dev/null`,
  ])();
}

const shown = [
  `for n in ${names.join(" ")}; do declare -p $n 2>/dev/null || echo "no $n"; done`,
  "pwd",
  'echo "$OLDPWD"',
  `env | grep -aE '^(${names.join("|")})=' | sort`,
].join("; ");

describe("after lines that assign, a session is like one bash that ran them all", () => {
  test.each(Array.from({ length: 30 }, (_, seed) => seed))("seed %d", async (seed) => {
    const random = Random.for(seed, "lines");
    const lines = Array.from({ length: random.between(1, 15) }, () => lineFrom(random));
    const env = { of_session: "s", HOME: "/home" };
    const { run } = await newSession(wire, { shell: "/bin/bash", working_dir: "/", env });
    let stdout = "";
    for (const command of [...lines, shown]) stdout += (await run(command)).stdout;

    const script = `${daemon.dir}/script-${seed}`;
    writeFileSync(script, `${[...lines, shown].join("\n")}\n`);
    const bash = Bun.spawnSync([shellFor("/bin/bash"), script], {
      cwd: "/",
      env: { ...process.env, OLDPWD: undefined, given: "by the daemon", ...env },
    });
    expect({ lines, stdout }).toEqual({ lines, stdout: bash.stdout.toString() });
  });
});

test("programs are still started with what such a line has left, and without a shell", async () => {
  const { run, out } = await newSession(wire, { shell: "/bin/bash", working_dir: "/" });
  await out("export b=1");
  await out("a=$(echo 1) b=$(echo 2)");
  expect(await out("/usr/bin/env")).toMatch(/^b=2$/m);
  expect(await out("/usr/bin/env")).not.toMatch(/^a=/m);
  expect((await run("printenv a")).exit_code).toBe(1);
});

test("a value that is too long to be listed costs the line its change, and nothing else", async () => {
  const { run, out } = await newSession(wire, { shell: "/bin/bash", working_dir: "/" });
  await out("x=aaaaaaaaaaaaaaaa y=1");
  const words = Array.from({ length: 20 }, (_, i) => i).join(" ");
  expect((await run(`cd /usr; y=2; for i in ${words}; do x=$x$x; done`)).exit_code).toBe(0);
  await run("cd /usr; for i in 1; do y=3; done");
  expect((await run(`for i in ${words}; do x=$x$x; done`)).exit_code).toBe(0);
  expect(await out("echo ${#x} $y; pwd")).toMatch(/^(?:16|16777216) 3\n\/usr$/);
});

test("an attribute that was given later is no reason to change the value", async () => {
  const { out } = await newSession(wire, { shell: "/bin/bash", working_dir: "/" });
  await out("x=abc; declare -u x");
  await out("export x");
  await out("true | cat");
  expect(await out("true | cat; printenv x")).toBe("abc");
});

test("a substitution has the exit code of the command before", async () => {
  const { out, run } = await newSession(wire, { shell: "/bin/bash", working_dir: "/" });
  await run("sh -c 'exit 3'");
  expect(await out("/bin/echo $(echo $?)")).toBe("3");
});
