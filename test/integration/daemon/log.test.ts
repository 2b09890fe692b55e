// What the daemon says of itself on standard error: to people, to files, and to those who have stopped reading.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startHere } from "../../support/daemon.ts";
import { binary } from "../../support/program.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";

const serve = (dir: string) => [binary, "serve", "--socket-path", join(dir, "inner.sock"), "--allow-root"];

/** Nothing of a terminal is in its environment but what is given. */
const env = { TRL_RUNTIME_DIR: null, NO_COLOR: "1" } as const;

test("on a terminal a line has the time", async () => {
  await using daemon = await startHere();
  using wire = await daemon.connect();
  const [command, ...args] = serve(daemon.dir);
  const terminal = await newTerminal(wire, { command: command!, args, env, cols: 200 });
  const screen = await terminal.waitForRegex("\\d\\d:\\d\\d:\\d\\d \u2139 ready socket=\\S+ pid=\\d+");
  expect(screen.lines?.join("\n")).not.toContain("\x1b");
  const socket = join(daemon.dir, "inner.sock");
  // Two lines say what to do next.
  const next = await terminal.waitFor("echo hello");
  const [, ...steps] = next.lines!.join("\n").split(/ready .*\n/);
  expect(steps.join().trimEnd().split("\n")).toEqual([
    `  It listens on ${socket}; Ctrl-C ends it.`,
    expect.stringMatching(
      new RegExp(`^ {2}Next, in another terminal: .*trl'? run --socket-path ${socket} -- echo hello$`),
    ),
  ]);
  await terminal.type("\x03");
  const { lines } = await terminal.waitForExit();
  expect(lines?.join("\n")).toMatch(/\d\d:\d\d:\d\d \u2139 stopped/);
});

test("in a file it goes behind what is there, to the last line", async () => {
  using dir = tempDir();
  const log = join(dir.path, "log");
  writeFileSync(log, "before\n");
  const child = Bun.spawn(["sh", "-c", `exec "$@" 2>>"$0"`, log, ...serve(dir.path)], {
    env: { PATH: process.env["PATH"], TRL_RUNTIME_DIR: dir.path },
  });
  await until("it to be ready", () => readFileSync(log, "utf8").includes("ready"));
  child.kill();
  await child.exited;
  const [before, ready, stopping, stopped, ...rest] = readFileSync(log, "utf8").split("\n");
  expect(before).toBe("before");
  expect(ready).toStartWith("\u2139 ready socket=");
  expect(stopping).toStartWith("\u2139 stopping");
  expect([stopped, ...rest]).toEqual(["\u2139 stopped", ""]);
});

test.each([
  ["pretty", / too much n=1 \(repeated 14 times\)\n$/],
  ["json", /"message":"too much","n":1,"repeated":14\}\n$/],
])("%s: a line that comes again and again is counted", async (format, counted) => {
  const log = JSON.stringify(join(import.meta.dir, "../../../src/daemon/log.ts"));
  const script = `const { createLog } = await import(${log});
    const log = createLog({ format: "${format}", isVerbose: false });
    for (let i = 0; i < 20; i++) log.error("too much", { n: 1 });`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "ignore", "pipe"] });
  const text = await child.stderr.text();
  expect(text).toMatch(counted);
  expect(text.split("\n")).toHaveLength(8);
});

test.each([
  ["has gone", `exec "$@" 2>&1 >/dev/null | head -n 1`],
  ["was never there", `exec "$@" 2>&-`],
  ["has no room", `exec "$@" 2>/dev/full`],
])("the daemon goes on where whoever reads it %s", async (_, script) => {
  using dir = tempDir();
  const flags = ["--verbose"];
  const child = Bun.spawn(["bash", "-c", script, "sh", ...serve(dir.path), ...flags], {
    env: { PATH: process.env["PATH"], TRL_RUNTIME_DIR: dir.path },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const cli = (...words: string[]) =>
    Bun.spawnSync([binary, ...words], {
      env: { PATH: process.env["PATH"], TRL_SOCKET_PATH: join(dir.path, "inner.sock") },
    });
  await until("it to answer", () => cli("ping").exitCode === 0);
  for (let i = 0; i < 3; i++) expect(cli("run", "--", "echo here").stdout.toString()).toBe("here\n");
  const { pid } = JSON.parse(cli("stats", "--json").stdout.toString()) as { pid: number };
  process.kill(pid, "SIGTERM");
  await child.exited;
  expect(cli("ping").exitCode).not.toBe(0);
});
