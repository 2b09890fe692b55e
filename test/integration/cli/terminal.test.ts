// Terminals as people use them: trl new, attach, ls and kill, at a real terminal.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { isAlive, processesWith, processOf } from "../../support/processes.ts";
import { binary, shellBinary } from "../../support/program.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { User } from "../../support/user.ts";
import { hangMs, until } from "../../support/wait.ts";

// Each waits for what it wants to see; this is for a machine that is busy.
setDefaultTimeout(40_000);

function trl(socketPath: string, ...words: string[]) {
  const result = Bun.spawnSync([binary, ...words], {
    env: {
      PATH: process.env["PATH"],
      TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"],
      HOME: process.env["HOME"],
      TRL_SOCKET_PATH: socketPath,
    } as Record<string, string>,
    cwd: "/tmp",
    stdin: "ignore",
    timeout: hangMs,
  });
  return { code: result.exitCode, out: result.stdout.toString(), err: result.stderr.toString() };
}

/** A shell on a terminal, without anybody's settings. */
const shell = ["env", "PS1=in> ", "HISTFILE=", "bash", "--norc", "--noprofile"];

/** A user who has just sat down at the new terminal `work`. */
async function atWork(daemon: TestDaemon, size: { cols?: number; rows?: number } = {}): Promise<User> {
  expect(trl(daemon.socketPath, "new", "work", "--", ...shell)).toMatchObject({ code: 0, out: "work\n" });
  return await sitDown(daemon, size);
}

async function sitDown(daemon: TestDaemon, size: { cols?: number; rows?: number } = {}): Promise<User> {
  using stack = new DisposableStack();
  const user = stack.use(new User({ ...daemon, ...size }));
  await user.sees("out$");
  user.enter("trl attach work; echo code=$?");
  await user.sees(/^in>$/m);
  stack.move(); // it is the test's from here on
  return user;
}

const hex = (text: string) => [...Buffer.from(text)].map((byte) => byte.toString(16));

/** What stty says of a terminal that takes lines. */
const asItWas = /(?=[\s\S]*\sisig icanon iexten echo\s)(?=[\s\S]*^opost )/m;

describe("trl new", () => {
  test("makes a terminal and prints its id", async () => {
    await using daemon = await startDaemon();
    const made = trl(daemon.socketPath, "new", "-d", "--", "sleep", "1000");
    expect(made).toMatchObject({ code: 0, err: "" });
    expect(made.out).toMatch(/^s-[0-9a-f]{8}\n$/);
    expect(trl(daemon.socketPath, "new", "named", "--", "sleep", "1000").out).toBe("named\n");
    using wire = await daemon.connect();
    const { sessions } = await wire.call("pty.list", {});
    expect(sessions.map(({ name }) => name)).toEqual([null, "named"]);
    expect(sessions[1]).toMatchObject({ session_id: "named", command: "sleep 1000", working_dir: "/tmp" });
  });

  test("refuses a name that is in use or cannot be one, and two names", async () => {
    await using daemon = await startDaemon();
    const make = (...words: string[]) => trl(daemon.socketPath, "new", "-d", ...words);
    expect(make("work", "--", "sleep", "1000").code).toBe(0);
    expect(make("work")).toEqual({
      code: 64,
      out: "",
      err: "trl: there is a session work already\n     come back to it with: trl attach work\n",
    });
    expect(make("a b")).toMatchObject({ code: 64, out: "" });
    expect(make("a b").err).toContain("it may be 1 to 128 letters");
    expect(make("work", "htop").err).toContain("trl new work -- htop");
    expect(make("x", "--detach-key", "f1").err).toContain("ctrl-a");
    expect(make("x", "--", "/no/such/program").code).toBe(126);
  });

  needs("tmux").test(
    "sits down at the user's shell, here, with this environment and at this size",
    async () => {
      await using daemon = await startDaemon();
      using user = new User({ ...daemon, cols: 90, rows: 25 });
      await user.sees("out$");
      user.enter("export MINE=yes PS1='mine> '");
      await user.sees(/^mine>$/m);
      user.enter("exec trl new work"); // the prompt that comes is the terminal's
      await user.sees(/./);
      user.enter('clear; echo "$PWD" $MINE $TERM $(stty size) [$TMUX] end');
      await user.sees(`${daemon.dir} yes xterm-256color 25 90 [] end`);
    },
  );

  test("starts a daemon that stays where none is running", async () => {
    using dir = tempDir();
    const socket = join(dir.path, "x.sock");
    const made = trl(socket, "new", "first", "--", "sleep", "1000");
    const daemon = Number(readFileSync(join(dir.path, "x.pid"), "utf8"));
    try {
      expect(made).toMatchObject({ code: 0, out: "first\n" });
      expect(made.err).toBe(`trl: started a daemon in the background, on ${socket}\n`);
      expect(trl(socket, "new", "second", "--", "sleep", "1000").err).toBe("");
      expect(JSON.parse(trl(socket, "ls", "--json").out).sessions).toHaveLength(2);
      if (process.platform === "linux") expect(processOf(daemon)?.sid).toBe(daemon);
    } finally {
      process.kill(daemon, "SIGTERM");
      await until("the daemon's end", () => !isAlive(daemon));
    }
    expect(existsSync(socket)).toBe(false);
  });

  test("of several at once start one daemon, also in a directory that is not there yet", async () => {
    using dir = tempDir();
    const place = join(dir.path, "made");
    const children = ["a", "b", "c"].map((name) =>
      Bun.spawn([binary, "new", name, "--socket-dir", place, "--", "sleep", "1000"], {
        env: process.env,
        stdio: ["ignore", "pipe", "ignore"],
      }),
    );
    const codes = await Promise.all(children.map(({ exited }) => exited));
    const daemon = Number(readFileSync(join(place, "trl.pid"), "utf8"));
    try {
      expect(codes).toEqual([0, 0, 0]);
      const { sessions } = JSON.parse(trl(join(place, "trl.sock"), "ls", "--json").out);
      expect(sessions.map((it: { name: string }) => it.name).sort()).toEqual(["a", "b", "c"]);
      // The others wait for a moment whether the first one goes; then they give up.
      await until("one daemon", () => processesWith(place).length === 1);
    } finally {
      process.kill(daemon, "SIGTERM");
      await until("the daemon's end", () => !isAlive(daemon));
    }
  });
});

needs("tmux").describe("trl attach", () => {
  test("shows what is typed and printed, leaves by the key, and comes back to the same screen", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    expect(user.history()).toContain("out$ trl attach work"); // nothing of the user's is lost
    user.enter("x=41; echo answer $((x + 1))");
    await user.sees("answer 42");
    user.press("C-\\");
    await user.sees("[detached from work; come back with: trl attach work]");
    await user.sees("code=0");
    await user.asks("stty -a", asItWas);
    await user.asks("echo $((5 + 5))", /^10$/m);
    user.enter("trl attach work");
    await user.sees("answer 42");
    expect(user.screen()).not.toContain("detached");
    user.enter("echo still $x");
    await user.sees("still 41");
  });

  test("sends what was typed just before the key, and knows the key in other forms", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    const mark = join(daemon.dir, "before");
    user.press("-H", ...hex(`touch ${mark}\r\x1c`));
    await user.sees("code=0");
    await until("the command's effect", () => existsSync(mark));
    user.enter("clear; trl attach --detach-key ctrl-] work; echo second=$?");
    await user.sees(/^(?![\s\S]*code=0)[\s\S]*^in>$/m); // not the screen from before it was cleared
    user.press("C-\\");
    user.enter("echo $((6 * 7))");
    await user.sees(/^42$/m);
    user.press("-H", ...hex("\x1b[93;5u"));
    await user.sees("second=0");
  });

  test("follows the size of the window", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    await user.asks("stty size", "30 100");
    user.resize(77, 22);
    user.enter("until [ \"$(stty size)\" = '22 77' ]; do sleep 0.01; done; echo it is $(stty size)");
    await user.sees("it is 22 77");
  });

  test("passes every byte on, in order", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    const file = join(daemon.dir, "paste");
    const text = Array.from({ length: 4000 }, (_, i) => `line ${i} äöü €\x01\x02\x7f\t`).join("\r");
    const bytes = Buffer.from(text);
    await Bun.write(file, bytes);
    user.enter(`stty raw -echo; echo ready; head -c ${bytes.length} | md5sum; stty sane`);
    await user.sees(/^ready/m);
    user.paste(file);
    await user.sees(new Bun.CryptoHasher("md5").update(bytes).digest("hex"));
  });

  test("ends with the program, by its exit code", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    user.enter("exit 7");
    await user.sees("[work ended with exit code 7]");
    await user.sees("code=7");
    await user.asks("stty -a", asItWas);
    user.enter("clear; trl attach work; echo again=$?"); // its last screen is still there
    await user.sees("again=7");
    expect(user.screen()).toMatch(/in> exit 7[\s\S]*\[work ended with exit code 7\]/);
  });

  test("ends when the terminal is killed from elsewhere", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    expect(trl(daemon.socketPath, "kill", "work")).toEqual({ code: 0, out: "", err: "" });
    await user.sees("[work ended by SIGHUP]");
    await user.sees("code=129");
    await user.asks("stty -a", asItWas);
  });

  needs("less").test("leaves the alternate screen and every mode, and has them again on return", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    const modes = ["alternate_on", "mouse_any_flag", "keypad_cursor_flag", "keypad_flag", "cursor_flag"];
    user.enter(`cd ${daemon.dir}; seq 1 300 >numbers; printf '\\033[?1000h\\033[?25l'; less -S numbers`);
    await user.sees(/^numbers/m);
    await until("the modes", () => user.knows(...modes) === "1 1 1 1 0");
    user.press("C-\\");
    await user.sees("code=0");
    expect(user.knows(...modes)).toBe("0 0 0 0 1");
    expect(user.screen()).toContain("less -S numbers");
    user.enter("trl attach work");
    await user.sees(/^numbers/m);
    expect(user.screen()).toStartWith("1\n2\n3\n");
    await until("the modes", () => user.knows(...modes) === "1 1 1 1 0");
    user.press("q");
    await user.sees(/in>$/m);
    expect(user.knows("alternate_on")).toBe("0");
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("restores the terminal on %s", async (signal, code) => {
    await using daemon = await startDaemon();
    trl(daemon.socketPath, "new", "work", "--", ...shell);
    using user = new User(daemon);
    await user.sees("out$");
    user.enter("sh -c 'echo $$ >pid; exec trl attach work'; echo code=$?");
    await user.sees(/^in>$/m);
    user.enter("printf '\\033[?1049h\\033[?1002h\\033[?2004h'; echo full");
    await user.sees(/^full/m);
    const pid = Number(readFileSync(join(daemon.dir, "pid"), "utf8"));
    process.kill(pid, signal);
    await user.sees(`code=${code}`);
    expect(user.knows("alternate_on", "mouse_any_flag")).toBe("0 0");
    await user.asks("stty -a", asItWas);
    await user.asks("trl ls", /work .* running/);
  });

  test("says when the daemon is lost", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    daemon.kill("SIGKILL");
    await user.sees("trl: the connection to the daemon is lost");
    await user.sees("code=1");
    await user.asks("stty -a", asItWas);
  });

  test("tells the program's end, not the connection's, when the daemon is stopped", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    daemon.kill("SIGTERM");
    await user.sees(/^\[work ended by SIG\w+\]$/m);
  });

  test("by two at once: both see it, who types decides the size, and one may leave", async () => {
    await using daemon = await startDaemon();
    using first = await atWork(daemon);
    first.enter("echo from the $((1))st");
    await first.sees("from the 1st");
    using second = await sitDown(daemon, { cols: 80, rows: 20 });
    await second.sees("from the 1st");
    second.enter("echo $(stty size) from the $((2))nd");
    await second.sees("20 80 from the 2nd");
    await first.sees("20 80 from the 2nd");
    expect(trl(daemon.socketPath, "ls").out).toMatch(
      /work +work +pty +running +\d+s +\d+ +80x20 +2 +\S+ +env .*\n/,
    );
    second.press("C-\\");
    await second.sees("code=0");
    first.enter("echo $(stty size) $((3))");
    await first.sees("30 100 3");
  });

  test("needs a terminal, a name that there is, and not its own", async () => {
    await using daemon = await startDaemon();
    const refused = trl(daemon.socketPath, "attach", "work");
    expect(refused).toMatchObject({ code: 64, out: "" });
    expect(refused.err).toContain("no terminal");
    expect(refused.err).toContain("trl run");
    using user = await atWork(daemon);
    user.enter(`attach() { ${shellBinary} attach --socket ${daemon.socketPath} $1; }`);
    user.enter("attach work; echo own=$?");
    await user.sees("own=64");
    user.enter("attach wrok; echo other=$?");
    await user.sees("is it meant to be work?");
    await user.sees("other=66");
  });

  test("tells by a bell what the program does not take", async () => {
    await using daemon = await startDaemon();
    using user = await atWork(daemon);
    const file = join(daemon.dir, "paste");
    await Bun.write(file, "x".repeat(20_000_000));
    user.notesBells(join(daemon.dir, "bell"));
    user.enter("stty raw -echo; echo ready; sleep 1000");
    await user.sees(/^ready/m);
    user.paste(file);
    await until("a bell", () => existsSync(join(daemon.dir, "bell")));
    user.press("C-\\");
    await user.sees("code=0");
  });
});

describe("trl ls", () => {
  test("lists terminals and sessions, as a table or JSON", async () => {
    await using daemon = await startDaemon();
    const { socketPath } = daemon;
    expect(trl(socketPath, "ls")).toEqual({
      code: 0,
      out: "",
      err: "trl: there is no session yet; make one with: trl new NAME\n",
    });
    expect(trl(socketPath, "ls", "--json").out).toBe('{"sessions":[]}\n');
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", { name: "build\x1b[2J" });
    trl(socketPath, "new", "done", "--", "sh", "-c", "exit 3");
    await wire.call("pty.wait", { session_id: "done", until: { exit: true } });
    trl(socketPath, "new", "work", "--", "sleep", "1000");
    const { out, err } = trl(socketPath, "ls");
    expect(err).toBe("");
    const [header = "", ...rows] = out.trimEnd().split("\n");
    expect(header).toMatch(/^ID +NAME +KIND +STATE +AGE +PID +SIZE +WATCHERS +DIRECTORY +COMMAND$/);
    expect(rows[0]).toMatch(new RegExp(`^${session_id} +build \\[2J +exec +idle +\\d+s +- +- +- +/tmp +-$`));
    expect(rows[1]).toMatch(/^done +done +pty +exited 3 +\d+s +\d+ +80x24 +0 +\/tmp +sh -c exit 3$/);
    expect(rows[2]).toMatch(/^work +work +pty +running +\d+s +\d+ +80x24 +0 +\/tmp +sleep 1000$/);
    for (const row of rows) expect(row[header.indexOf("KIND") - 1]).toBe(" ");
    const { sessions } = JSON.parse(trl(socketPath, "ls", "--json").out);
    expect(sessions).toMatchObject([
      { kind: "exec", session_id },
      { kind: "pty", session_id: "done", state: "exited", exit_code: 3 },
      { kind: "pty", session_id: "work", state: "running" },
    ]);
  });

  test("says when there is no daemon", () => {
    using dir = tempDir();
    expect(trl(join(dir.path, "none.sock"), "ls").code).toBe(69);
  });
});

describe("trl kill", () => {
  test("ends terminals and sessions by name or id, several at once", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    await wire.call("session.create", { name: "build" });
    const { pid } = await wire.call("pty.create", { session_id: "work", command: "sleep 1000" });
    const id = trl(daemon.socketPath, "new", "--", "sleep", "1000").out.trim();
    expect(trl(daemon.socketPath, "kill", "build", "work", id)).toEqual({ code: 0, out: "", err: "" });
    expect(isAlive(pid)).toBe(false);
    expect((await wire.call("session.list", {})).sessions).toEqual([]);
  });

  test("tells what is not there, and ends the others all the same", async () => {
    await using daemon = await startDaemon();
    const { socketPath } = daemon;
    trl(socketPath, "new", "work", "--", "sleep", "1000");
    expect(trl(socketPath, "kill", "wrok")).toEqual({
      code: 66,
      out: "",
      err: "trl: there is no session wrok\n     is it meant to be work?\n",
    });
    expect(trl(socketPath, "kill", "nothing", "work")).toMatchObject({ code: 66 });
    expect(trl(socketPath, "kill", "work")).toEqual({
      code: 66,
      out: "",
      err: "trl: work has already ended\n",
    });
    expect(trl(socketPath, "kill").code).toBe(64);
  });
});
