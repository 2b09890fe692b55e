// trl top and tables at a real terminal: a live screen, keys, sizes, colours, and the terminal as it was afterwards.
import { expect, setDefaultTimeout } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "../../support/command-line.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { User } from "../../support/user.ts";
import { until } from "../../support/wait.ts";

setDefaultTimeout(40_000);
const { describe, test } = needs("tmux");

/** What stty says of a terminal that takes lines. */
const asItWas = /(?=[\s\S]*\sisig icanon iexten echo\s)(?=[\s\S]*^opost )/m;

async function watching(daemon: TestDaemon, size: { cols?: number; rows?: number } = {}): Promise<User> {
  using stack = new DisposableStack();
  const user = stack.use(new User({ ...daemon, ...size }));
  await user.sees("out$");
  user.enter("sh -c 'echo $$ >pid; exec trl top --interval 0.1'; echo code=$?");
  await user.sees(/^trl \d.* up /m);
  stack.move(); // it is the test's from here on
  return user;
}

const pidOf = (daemon: TestDaemon) => Number(readFileSync(join(daemon.dir, "pid"), "utf8"));

async function expectAsBefore(user: User): Promise<void> {
  expect(user.knows("alternate_on", "cursor_flag", "wrap_flag")).toBe("0 1 1");
  expect(user.screen()).toContain("out$ sh -c");
  await user.asks("stty -a", asItWas);
}

describe("trl top", () => {
  test("shows what comes and goes, with its rate", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    using user = await watching(daemon);
    await user.sees("nothing is running");
    expect(user.knows("alternate_on", "cursor_flag")).toBe("1 0");
    trl("new", "-d", "flood", "--", "sh", "-c", "while :; do seq 1 500; sleep 0.02; done");
    await user.sees(/^flood +flood +pty +\d+ +\d+s +[\d.]+ [kM]?B +[\d.]+ [kM]?B\/s +sh -c while/m);
    await user.sees("1 terminal ");
    trl("kill", "flood");
    await user.sees("nothing is running");
    await user.sees("0 terminals");
    user.press("q");
    await user.sees("code=0");
    await expectAsBefore(user);
  });

  test("sorts by its keys, both ways, and scrolls", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    for (const name of ["bbb", "ccc", "aaa"]) trl("new", "-d", name, "--", "sleep", "1000");
    using user = await watching(daemon, { rows: 8 });
    const inOrder = (...names: string[]) =>
      user.sees(new RegExp(names.map((name) => `^${name} .*\\n`).join(""), "m"));
    await inOrder("bbb", "ccc", "aaa");
    user.press("s");
    await inOrder("aaa", "bbb", "ccc");
    user.press("s");
    await inOrder("ccc", "bbb", "aaa");
    trl("new", "-d", "ddd", "--", "sleep", "1000");
    trl("new", "-d", "eee", "--", "sleep", "1000");
    await inOrder("eee", "ddd", "ccc", "bbb");
    await user.sees("1 more");
    user.press("Down");
    await inOrder("ddd", "ccc", "bbb", "aaa");
    user.press("Up");
    await inOrder("eee", "ddd", "ccc", "bbb");
    user.press("C-c");
    await user.sees("code=0");
  });

  test("follows the size of the window", async () => {
    await using daemon = await startDaemon();
    commandLine(daemon.socketPath)("new", "-d", "work", "--", "sh", "-c", `sleep 1000; : ${"x".repeat(300)}`);
    using user = await watching(daemon, { cols: 100, rows: 12 });
    await user.sees(/^work .* sh -c sleep 1000; : x{5,}…$/m);
    const width = (screen: string) => Math.max(...screen.split("\n").map((line) => line.length));
    expect(width(user.screen())).toBe(100);
    user.resize(70, 9);
    await user.sees(/^work [^\n]{60,64}…$/m);
    expect(user.screen().trimEnd().split("\n")).toHaveLength(9);
    user.resize(40, 9);
    await user.sees(/^q quit [^\n]{32}…$/m);
    user.resize(120, 20);
    await user.sees(/^work [^\n]{110,114}…$/m);
    user.press("q");
    await user.sees("code=0");
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("restores the terminal on %s", async (signal, code) => {
    await using daemon = await startDaemon();
    using user = await watching(daemon);
    process.kill(pidOf(daemon), signal);
    await user.sees(`code=${code}`);
    await expectAsBefore(user);
  });

  test("says when the daemon does not answer, and goes on when it does", async () => {
    await using daemon = await startDaemon();
    using user = await watching(daemon);
    daemon.kill("SIGSTOP");
    try {
      await user.sees("the daemon does not answer; q quits");
    } finally {
      daemon.kill("SIGCONT");
    }
    await user.sees("q quit   sort:");
    user.press("q");
    await user.sees("code=0");
  });

  test("restores the terminal when the daemon is lost", async () => {
    await using daemon = await startDaemon();
    using user = await watching(daemon);
    daemon.kill("SIGKILL");
    await user.sees("trl: the connection to the daemon is lost");
    await user.sees("code=1");
    await expectAsBefore(user);
  });

  test("is suspended and comes back", async () => {
    await using daemon = await startDaemon();
    using user = new User(daemon);
    await user.sees("out$");
    user.enter("trl top --interval 0.1");
    await user.sees("nothing is running");
    user.press("C-z");
    await user.sees("Stopped");
    expect(user.knows("alternate_on", "cursor_flag")).toBe("0 1");
    await user.asks("stty -a", asItWas);
    user.enter("fg");
    await user.sees("nothing is running");
    expect(user.knows("alternate_on")).toBe("1");
    user.press("q");
    await user.asks("stty -a", asItWas);
  });

  test("costs the daemon nearly nothing", async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", {});
    for (let i = 0; i < 250; i++)
      await wire.call("exec.run", { session_id, command: `: ${"x".repeat(400)}` });
    using user = await watching(daemon);
    await user.sees("nothing is running");
    const before = await wire.call("system.stats", {});
    const uptime = () => /up (\S+)/.exec(user.screen())?.[1];
    const seen = new Set<string | undefined>();
    await until("two seconds to pass", () => seen.add(uptime()).size === 3);
    const after = await wire.call("system.stats", {});
    const looks = 10 * 3;
    // What has ended is not sent again and again.
    expect(after.bytes_out - before.bytes_out).toBeLessThan(looks * 3000);
    user.press("q");
  });
});

describe("tables at a terminal", () => {
  test("fit in, are coloured, and are neither with NO_COLOR or in a pipe", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    trl("new", "-d", "work", "--", "sh", "-c", `sleep 1000; : ${"y".repeat(300)}`);
    using user = new User({ ...daemon, cols: 90, rows: 20 });
    await user.sees("out$");
    user.enter("clear; trl ps");
    await user.sees(/^work .* sh -c sleep 1000; : y+…$/m);
    expect(user.styled()).toContain("\x1b[32mrunning");
    user.enter("clear; NO_COLOR=1 trl ps; echo plain");
    await user.sees(/^plain$/m);
    expect(user.styled()).not.toContain("\x1b[32m");
    user.enter("clear; trl ps | cat; echo piped");
    await user.sees(/^piped$/m);
    expect(user.styled()).not.toContain("\x1b[32m");
    expect(user.screen()).not.toContain("…");
    expect(user.screen().replaceAll("\n", "")).toContain("y".repeat(300));
  });

  test("a wait shows that it is one, and leaves no trace", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    trl("new", "-d", "work", "--", "cat");
    using user = new User(daemon);
    await user.sees("out$");
    user.enter("clear; trl screen --wait needle work; echo over");
    await user.sees(/^waiting for work to show "needle" \(\d+s\)$/m);
    trl("send", "work", "--enter", "needle");
    await user.sees(/^over$/m);
    expect(user.screen()).not.toContain("waiting");
    expect(user.screen()).toContain("needle");
  });
});

describe("trl logs at a terminal", () => {
  test("leaves it as it was, whatever the program had switched on", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    const program = "printf '\\033[?1049h\\033[?1000h\\033[?25lfull'; sleep 1000";
    trl("new", "-d", "full", "--", "bash", "-c", program);
    using user = new User(daemon);
    await user.sees("out$");
    user.enter("trl logs -f full; echo code=$?");
    await user.sees(/^full/m);
    expect(user.knows("alternate_on", "mouse_any_flag", "cursor_flag")).toBe("1 1 0");
    user.press("C-c");
    await user.sees("code=130");
    expect(user.knows("alternate_on", "mouse_any_flag", "cursor_flag")).toBe("0 0 1");
  });
});
