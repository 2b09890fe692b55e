// Commands that the waiting bash runs itself and waits on: nobody may tell them from others.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { listProcesses } from "../../support/processes.ts";
import { Random } from "../../support/random.ts";
import { newSession, type Runner } from "../../support/session.ts";
import { follow } from "../../support/stream.ts";
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
const shellPid = "echo $BASHPID";

/** Of the shell that waits; one that was just killed does not tell. */
const pidOf = (run: Runner): Promise<number> =>
  until("a shell", async () => Number((await afterKill(run, shellPid))?.stdout.trim() ?? 0));

/** Undefined where the kill met the shell before the command. */
const afterKill = (run: Runner, command: string) =>
  run(command).catch((error: Error) => {
    if (!error.message.includes("SPAWN_FAILED")) throw error;
    return undefined;
  });

/** The kill may have met the next command, which says so, or the shell before that command. */
async function valueAfterKill(run: Runner): Promise<string> {
  const after = await afterKill(run, 'echo "$x"');
  return (after && after.signal !== "SIGKILL" ? after : await run('echo "$x"')).stdout.trim();
}

needs("linux").describe("one shell", () => {
  needs("in-place").test("runs them all, and the one that comes after", async () => {
    const { out } = await newSession(wire, bash);
    const pid = await out(shellPid);
    await out("x=1");
    await out("cd /usr && export y=2");
    expect(await out(shellPid)).toBe(pid);
    expect(await out('echo "$BASHPID $x $y $(pwd)"')).toBe(`${pid} 1 2 /usr`);
    expect(await out("echo $x $y")).toBe("1 2");
    expect(await out(shellPid)).not.toBe(pid);
  });

  needs("in-place").test("that is killed while it waits takes nothing with it", async () => {
    const { out, run } = await newSession(wire, bash);
    const pid = await pidOf(run);
    await out("x=1; y=$x");
    process.kill(pid, "SIGKILL");
    await until("its end", () => !listProcesses().some((process) => process.pid === pid));
    expect(await out('echo "$x $y"')).toBe("1 1");
  });

  needs("in-place").test(
    "that is killed before it could report has its command done once more, and once only",
    async () => {
      const { run } = await newSession(wire, bash);
      await run("x=a");
      for (let i = 0; i < 20; i++) {
        const before = (await run("echo $x")).stdout.trim();
        const pid = await pidOf(run);
        await run("x+=b");
        process.kill(pid, "SIGKILL"); // perhaps while it reports
        expect(await valueAfterKill(run)).toBe(`${before}b`);
      }
    },
  );

  needs("in-place").test(
    "that is killed before it could report knows where it came from when its command is done again",
    async () => {
      const { run, out } = await newSession(wire, bash);
      await out("cd /usr");
      await out("cd /etc");
      for (let i = 0; i < 10; i++) {
        const pid = await pidOf(run);
        await out(`x=${i}-$OLDPWD`);
        process.kill(pid, "SIGKILL");
        expect(await valueAfterKill(run)).toBe(`${i}-/usr`);
      }
    },
  );

  needs("in-place").test("that is killed after several has them done again where they were", async () => {
    const { id, run, out } = await newSession(wire, bash);
    const pid = await pidOf(run);
    // One after the other without a pause: the shell has not been asked what it has become.
    const commands = ["cd /usr", "x=$PWD", "cd /etc", "y=$x:$OLDPWD", "export z=$PWD", "cd /"];
    for (const command of commands) await run(command);
    process.kill(pid, "SIGKILL");
    await until("its end", () => !listProcesses().some((process) => process.pid === pid));
    expect(await out('echo "$x $y $z $PWD"')).toBe("/usr /usr:/usr /etc /");
    expect((await wire.call("session.info", { session_id: id })).env_keys).toContain("z");
  });

  needs("in-place").test("runs so many that it has to be asked in between", async () => {
    const { out, run } = await newSession(wire, bash);
    const pid = await pidOf(run);
    for (let i = 0; i < 100; i++) await out(`x+=${i}.`);
    process.kill(pid, "SIGKILL");
    await until("its end", () => !listProcesses().some((process) => process.pid === pid));
    expect(await out("echo $x")).toBe(Array.from({ length: 100 }, (_, i) => `${i}.`).join(""));
  });

  test("that goes elsewhere is not taken to be where it was told to be before", async () => {
    const { out } = await newSession(wire, bash);
    const there = "cd / && (true)";
    for (let i = 0; i < 3; i++) {
      await out(there);
      expect(await out("pwd")).toBe("/");
      await out("cd /usr");
      expect(await out("/bin/pwd")).toBe("/usr");
    }
  });

  test("whose files are cleaned away before it could report loses nothing", async () => {
    const { out } = await newSession(wire, bash);
    for (let i = 0; i < 20; i++) {
      const file = (await out("cd /no/such || echo $0")).trim();
      await out(`x=${i}`);
      rmSync(dirname(file), { recursive: true, force: true }); // perhaps while it reports
      expect(await out("echo $x")).toBe(`${i}`);
    }
  });

  test("is not ended by a cancel that comes too late for its visitor", async () => {
    const { id, run } = await newSession(wire, bash);
    using other = await daemon.connect();
    const reasons: string[] = [];
    for (let i = 0; i < 100; i++) {
      const cancelled = other.call("exec.cancel", { session_id: id });
      reasons.push((await run("echo a")).reason);
      await cancelled;
    }
    expect(reasons.filter((reason) => reason !== "exit" && reason !== "cancelled")).toEqual([]);
  });

  needs("in-place").test("that is killed with a command in it leaves no descriptor", async () => {
    const { id, run } = await newSession(wire, bash);
    await run("x=1");
    const count = async () => (await wire.call("system.stats", {})).open_fds;
    const before = await count();
    for (let i = 0; i < 20; i++) {
      const pid = await pidOf(run);
      const { stream_id } = await wire.call("exec.stream", { session_id: id, command: "echo a; y=1" });
      process.kill(pid, "SIGKILL");
      // A command that the kill came before is not known any more.
      await wire.request("exec.wait", { stream_id });
    }
    await until("what is left", async () => (await count()) <= before + 6);
  });

  test("keeps what it was told just before a command that is stopped", async () => {
    const { run, out } = await newSession(wire, bash);
    for (let i = 0; i < 10; i++) {
      await out(`x=${i}`);
      await expect(run("sleep 30; x=lost", { timeout_s: 0.02 })).rejects.toThrow("COMMAND_TIMEOUT");
      expect(await out("echo $x")).toBe(`${i}`);
    }
  });
});

describe("a visit", () => {
  test("has messages like any other command", async () => {
    const { run } = await newSession(wire, bash);
    const { stderr, exit_code, working_dir } = await run("true; cd /no/such");
    expect(stderr).toMatch(/^\S+bash: line 1: cd: \/no\/such: No such file or directory\n$/);
    expect(exit_code).toBe(1);
    expect((await run("pwd")).stdout.trim()).toBe(working_dir);
    expect((await run("true\ncd /no/such")).stderr).toContain("line 2: cd:");
  });

  test("tells where it went, and what it used", async () => {
    const { run } = await newSession(wire, bash);
    const { working_dir, receipt, leftovers } = await run("cd /usr");
    expect(working_dir).toBe("/usr");
    expect(leftovers).toEqual([]);
    expect(receipt).toMatchObject({ bytes_out: 0, leftovers: 0, measured_by: "process" });
    expect(receipt!.cpu_ms).toBeLessThan(1000);
    expect((await run("echo 12345")).receipt!.bytes_out).toBe(6);
  });

  test("may print more than a pipe holds", async () => {
    const { run, out } = await newSession(wire, bash);
    const text = "0123456789abcdef".repeat(40_000);
    await out('x="$V$V$V"', { env: { V: text.slice(0, 100_000) } });
    await out("y=$x$x$x");
    const { stdout } = await run('echo "$y"; echo end', { max_output_bytes: 4_000_000 });
    expect(stdout.length).toBe(900_000 + 5);
    expect(stdout.endsWith("\nend\n")).toBe(true);
  });

  test("shows in what is told of the session at once", async () => {
    const { id, out } = await newSession(wire, bash);
    for (let i = 0; i < 20; i++) {
      await out(`export NAME_${i}=1; cd /usr`);
      const { env_keys, working_dir } = await wire.call("session.info", { session_id: id });
      expect(env_keys).toContain(`NAME_${i}`);
      expect(working_dir).toBe("/usr");
    }
  });

  test("has the id of its own command", async () => {
    const { run } = await newSession(wire, bash);
    for (let i = 0; i < 3; i++) {
      const { stdout, command_id } = await run("echo $TRL_COMMAND_ID");
      expect(stdout.trim()).toBe(command_id);
    }
  });

  test("is streamed like any other", async () => {
    const { id } = await newSession(wire, bash);
    for (let i = 0; i < 5; i++) {
      const { stream_id } = await wire.call("exec.stream", { session_id: id, command: `echo ${i}; false` });
      const { exit, stdout } = await follow(wire, stream_id);
      expect(stdout.bytes).toBe(2);
      expect(exit).toMatchObject({ type: "exit", exit_code: 1, reason: "exit" });
    }
  });

  test("whatever IFS is, and where its directory is removed and made again", async () => {
    const { out } = await newSession(wire, { ...bash, working_dir: daemon.dir });
    await out("IFS=rsg0123456789");
    expect(await out("x=rsg; echo done")).toBe("done");
    expect(await out('echo "$x"')).toBe("rsg");
    mkdirSync(`${daemon.dir}/place`);
    await out("cd place");
    rmSync(`${daemon.dir}/place`, { recursive: true });
    expect(await out('echo "$PWD"')).toBe(`${daemon.dir}/place`);
    mkdirSync(`${daemon.dir}/place`);
    expect(await out("pwd && echo *")).toBe(`${daemon.dir}/place\n*`);
  });

  test("exports where it was, and waits longer than TMOUT", async () => {
    const { out } = await newSession(wire, bash);
    await out("cd /usr");
    expect(await out("printenv OLDPWD")).toBe("/tmp");
    await out("TMOUT=0.000001");
    for (let i = 0; i < 3; i++) expect(await out("echo a")).toBe("a");
    expect(await out("printenv HOME")).not.toBe("");
  });

  test("hears of nothing that hides behind its words", async () => {
    const { out, run } = await newSession(wire, bash);
    await out('echo() { builtin echo mine "$@"; }; cd() { builtin cd /usr; }');
    expect(await out("echo a")).toBe("mine a");
    await out("cd /");
    expect(await out("pwd")).toBe("/usr");
    await out("unset -f echo cd; readonly fixed=1; declare -i number=1");
    expect((await run("fixed=2")).exit_code).not.toBe(0);
    expect(await out("number=2+3; echo $number $fixed")).toBe("5 1");
  });
});

/** Any of these, in any order, must do in a session what they do in one bash. */
const words = ["a", "'b c'", '"$x d"', "$y", "*", "''", "~"] as const;
function randomCommand(random: Random): string {
  const word = () => random.pick(words);
  const make: (() => string)[] = [
    () => `echo ${word()} ${word()}`,
    () => `${random.pick(["x", "y", "z"])}${random.pick(["=", "+="])}${word().replace("*", "star")}`,
    () => `export ${random.pick(["x", "y"])}=${random.pick(["1", "'2 3'", '"$y"'])}`,
    () => `cd ${random.pick(["/", "/usr", "bin", "..", "/no/such", "-"])}`,
    () => random.pick(["pwd", "true", "false", ":", "echo $?", 'echo "$x-$y-$z"']),
    () => random.pick(["printenv x", "expr 1 + 1", "sh -c 'exit 3'", "unset x", "f() { echo f $x; }", "f"]),
    () => random.pick(["set -f", "set +f", "readonly w=1", "x=$(pwd)", "(cd /; x=9)", "echo a | cat"]),
  ];
  const directory = () => random.pick(["/", "/usr", "bin", "..", "/no/such", "-"]);
  const lines: (() => string)[] = [
    () => `cd ${directory()} && ls -d .`,
    () => `ls -d bin | cat; cd ${directory()}`,
    () => `cd ${directory()} | cat`,
    () => `test -d ${directory()} && echo ${word()}`,
    () => `[ ${random.pick(["-n", "-z"])} "$x" ] || cd ${directory()}`,
    () => `test "$y" = ${random.pick(["a", "'b c'", "''"])}`,
    () => `printf '%s,' ${word()} ${word()}`,
    () => `printf '%d%n' 7 ${random.pick(["x", "y"])}`,
    () =>
      `for ${random.pick(["x", "y", "z"])} in ${word()} ${word()}; do echo "$x$y"; z+=${word().replace("*", "star")}; done`,
    () => `for y in 1 2; do cd ${directory()}; sh -c 'echo $x'; done`,
    () => random.pick(["test() { echo mine; }", "unset -f test"]),
  ];
  const one = () => random.pick(random.chance(0.5) ? lines : make)();
  return random.chance(0.3) ? `${one()} ${random.pick(["&&", "||", ";"])} ${one()}` : one();
}

test("a session does what one bash does, whatever comes after what", async () => {
  const seed = Number(process.env["TRL_SEED"] ?? 20261);
  for (let round = 0; round < 6; round++) {
    const random = Random.for(seed, "visits", round);
    const commands = Array.from({ length: 40 }, () => randomCommand(random));
    const { run } = await newSession(wire, {
      ...bash,
      working_dir: "/usr",
      env: { LC_ALL: "C", HOME: "/usr" },
    });
    const script = commands.map(
      (text) => `(exit $last)\n${text}\nlast=$?\nprintf '\\0%d %s\\0' $last "$PWD"\n`,
    );
    const peer = Bun.spawnSync(["/bin/bash", "-c", `last=0\n${script.join("")}`], {
      cwd: "/usr",
      env: { PATH: process.env["PATH"]!, LC_ALL: "C", HOME: "/usr" },
      stderr: "ignore",
    });
    const expected = peer.stdout.toString().split("\0");
    for (const [at, command] of commands.entries()) {
      const { stdout, exit_code, working_dir } = await run(command);
      const told = `${round}.${at} ${command}: `;
      expect(`${told}${stdout}${exit_code} ${working_dir}`).toBe(
        `${told}${expected[at * 2]}${expected[at * 2 + 1]}`,
      );
    }
  }
});
