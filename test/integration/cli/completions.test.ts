// Completion as each shell does it. What is asked is the same in all three; how it is asked is the shell's own.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { binary } from "../../support/program.ts";
import { trl } from "../../support/trl.ts";
import { User } from "../../support/user.ts";

let daemon: TestDaemon;
let env: Record<string, string>;
const scriptOf = (shell: string) => join(daemon.dir, `complete.${shell}`);

beforeAll(async () => {
  daemon = await startDaemon();
  env = {
    PATH: `${dirname(binary)}:/usr/bin:/bin`,
    HOME: daemon.dir,
    TRL_SOCKET_PATH: daemon.socketPath,
    TERM: "xterm",
  };
  using wire = await daemon.connect();
  for (const session_id of ["work", "wide"])
    await wire.call("pty.create", { session_id, command: "cat", args: [] });
  await wire.call("session.create", { name: "build" });
  await wire.call("session.create", { name: 'a "strange" name' });
  const gone = await wire.call("pty.create", { session_id: "weg", command: "true", args: [] });
  await wire.call("pty.wait", { session_id: gone.session_id, until: { exit: true }, timeout_s: 20 });
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, out, err } = trl(["completions", shell]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    writeFileSync(scriptOf(shell), out);
  }
});

afterAll(() => daemon[Symbol.asyncDispose]());

const run = (words: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, {
    env,
    cwd: "/",
    stdin: "ignore",
    timeout: 25_000,
  });
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
};

/** A line as far as it is typed, and what is offered for its last word. */
const cases: [line: string, offered: string[]][] = [
  ["trl at", ["attach"]],
  ["trl attach w", ["wide", "work"]],
  ["trl kill work b", ["build"]],
  ["trl attach b", []],
  ["trl run --session bui", ["build"]],
  ["trl run --se", ["--session"]],
  ["trl serve --pty-driver ", ["auto", "bun-pty", "native"]],
  ["trl --max-l", ["--max-line-bytes"]],
  ["trl service in", ["install"]],
  ["trl service install -- --max-se", ["--max-sessions"]],
  ["trl describe exec.r", ["exec.run"]],
  ["trl help desc", ["describe"]],
  ["trl completions ", ["bash", "fish", "zsh"]],
  ["trl run -- /bin/ech", ["/bin/echo"]],
  ["trl attach --socket-path /nowhere w", []],
];

describe("bash", () => {
  const complete = (line: string) => {
    const words = line
      .split(" ")
      .map((word) => `'${word}'`)
      .join(" ");
    const ask = `source ${scriptOf("bash")}; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _trl`;
    return run(["bash", "--norc", "-c", `${ask}; printf '%s\\n' "\${COMPREPLY[@]}"`]);
  };

  test("the script is one", () =>
    expect(run(["bash", "-n", scriptOf("bash")])).toEqual({ code: 0, out: "", err: "" }));

  for (const [line, offered] of cases)
    test(line, () => {
      const { out, err } = complete(line);
      expect(err).toBe("");
      expect(out.split("\n").filter(Boolean).sort()).toEqual(offered);
    });

  test("a value behind = comes in words of its own", () => {
    expect(complete("trl serve --pty-driver = na").out).toBe("native\n");
    expect(complete(`trl attach --socket-path = ${daemon.socketPath} wo`).out).toBe("work\n");
  });

  test("a path with a space in it is one", () => {
    writeFileSync(join(daemon.dir, "my file"), "");
    expect(complete(`trl serve --env-file ${daemon.dir}/my`).out).toBe(`${daemon.dir}/my file\n`);
  });
});

needs("fish").describe("fish", () => {
  const complete = (line: string) =>
    run(["fish", "--no-config", "-c", `source ${scriptOf("fish")}; complete -C '${line}'`]);

  test("the script is one", () =>
    expect(run(["fish", "--no-config", "-n", scriptOf("fish")])).toEqual({ code: 0, out: "", err: "" }));

  for (const [line, offered] of cases)
    test(line, () => {
      const { out, err } = complete(line);
      expect(err).toBe("");
      const words = out.split("\n").map((it) => it.split("\t")[0]!);
      expect(words.filter(Boolean).sort()).toEqual(offered);
    });

  test("what a word means stands beside it", () => expect(complete("trl at").out).toContain("\tAttach to"));
});

needs("zsh", "tmux").describe("zsh, at a terminal", () => {
  /** Typed, Tab pressed, and seen; what is offered beyond one is listed below. */
  const complete = async (user: User, line: string, seen: string) => {
    user.press("-l", line);
    user.press("Tab");
    await user.sees(seen);
    user.press("C-u", "C-l"); // keys of the line editor, which takes them in order; a ^C would overtake
    await user.sees(/^z>\n\n/);
  };
  const start = async (load: string) => {
    const user = new User({ dir: daemon.dir, socketPath: daemon.socketPath });
    user.enter(`PS1='z> ' zsh -f`);
    await user.sees(/^z>$/m);
    user.enter(`${load}; clear`);
    await user.sees(/^z>\n\n/);
    return user;
  };
  const compinit = "autoload -Uz compinit; compinit -u -D";

  test("the script is one", () =>
    expect(run(["zsh", "-n", scriptOf("zsh")])).toEqual({ code: 0, out: "", err: "" }));

  test("read by source", async () => {
    using user = await start(`${compinit}; source ${scriptOf("zsh")}`);
    const unique = cases.filter(([, offered]) => offered.length === 1);
    for (const [line, [offered]] of unique)
      await complete(user, line, `z> ${line.slice(0, line.lastIndexOf(" ") + 1)}${offered}`);
    await complete(user, "trl attach wi", "z> trl attach wide");
    await complete(user, "trl doctor --", "Print JSON");
    await complete(user, "trl serve --pty-driver=nat", "z> trl serve --pty-driver=native");
  });

  test("found in fpath", async () => {
    writeFileSync(join(daemon.dir, "_trl"), await Bun.file(scriptOf("zsh")).text());
    using user = await start(`fpath=(${daemon.dir} $fpath); ${compinit}`);
    await complete(user, "trl at", "z> trl attach");
    await complete(user, "trl kill bu", "z> trl kill build");
  });
});

test("without a daemon nothing is printed", () => {
  const ask = `source ${scriptOf("bash")}; COMP_WORDS=(trl attach ''); COMP_CWORD=2; _trl; echo "\${#COMPREPLY[@]}"`;
  const { stdout, stderr } = Bun.spawnSync(["bash", "--norc", "-c", ask], {
    env: { ...env, TRL_SOCKET_PATH: join(daemon.dir, "none.sock") },
    stdin: "ignore",
  });
  expect({ out: stdout.toString(), err: stderr.toString() }).toEqual({ out: "0\n", err: "" });
});

test("a shell that is not known", () => {
  expect(trl(["completions", "tcsh"])).toMatchObject({ code: 64, out: "" });
  expect(trl(["completions"]).err).toContain("bash|zsh|fish");
});
