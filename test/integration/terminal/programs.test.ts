// Real programs on terminals: what a person does with them, and whether a screen restored in the middle is the live one.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { processOf } from "../../support/processes.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon({ flags: ["--max-sessions", "100"] });
  wire = await daemon.connect();
  const lines = Array.from({ length: 300 }, (_, n) => `${n + 1}: some text, 漢字 and é, to look at`);
  writeFileSync(join(daemon.dir, "text"), `${lines.join("\n")}\n`);
});
afterAll(() => daemon[Symbol.asyncDispose]());

type Terminal = Awaited<ReturnType<typeof newTerminal>>;

/** Somebody who was there from the beginning and somebody who comes now see the same, cell by cell. */
async function expectSameForNewcomers(terminal: Terminal, live: Watcher): Promise<void> {
  await wire.call("pty.wait", { session_id: terminal.id, until: { idle_ms: 150 } });
  using own = await daemon.connect();
  const newcomer = await Watcher.subscribe(own, { session_id: terminal.id });
  await until("the redraw", () => newcomer.frames.length > 0 && newcomer.end === live.end);
  expect(newcomer.display.picture).toEqual(live.display.picture);
  const { lines } = await terminal.snapshot();
  expect(lines).toEqual(live.display.lines);
}

async function started(params: Parameters<typeof newTerminal>[1]): Promise<[Terminal, Watcher]> {
  const terminal = await newTerminal(wire, { working_dir: daemon.dir, cols: 80, rows: 24, ...params });
  return [terminal, await Watcher.subscribe(wire, { session_id: terminal.id, from: 0 })];
}

const close = ({ id }: Terminal) => wire.call("pty.close", { session_id: id });

describe("bash", () => {
  const bash = { command: "bash", args: ["--norc", "--noprofile", "-i"] };

  test("has job control: ^C, ^Z, bg, fg", async () => {
    const [terminal] = await started(bash);
    await terminal.waitFor("$ ");
    await terminal.type("sleep 1000\r");
    await until("the job in the foreground", () => hasForegroundJob(terminal));
    await terminal.type("\x03");
    await terminal.type("echo st=$?\r");
    await terminal.waitFor("st=130");
    await terminal.type("sleep 1001\r");
    await until("the job in the foreground", () => hasForegroundJob(terminal));
    await terminal.type("\x1a");
    await terminal.waitFor("Stopped");
    await terminal.type("bg\r");
    await terminal.waitFor("sleep 1001 &");
    await terminal.type("jobs\r");
    await terminal.waitForRegex("Running +sleep 1001");
    await terminal.type("fg\r");
    await terminal.waitForRegex("fg\\nsleep 1001");
    await until("the job in the foreground", () => hasForegroundJob(terminal));
    await terminal.type("\x03");
    await terminal.type("echo co''me\r");
    await terminal.waitFor("come");
    await terminal.type("exit 9\r");
    await terminal.waitForExit();
    expect(await terminal.summary()).toMatchObject({ exit_code: 9 });
  });

  test("edits its line, with wide characters, and the restored screen is the live one", async () => {
    const [terminal, live] = await started({ ...bash, env: { PS1: "\\[\\e[32m\\]$\\[\\e[0m\\] " } });
    await terminal.waitFor("$ ");
    await terminal.type("echo 漢字かな éa one two\x1b[D\x1b[D\x1b[DX\x01\x05\x17three");
    await terminal.waitFor("three");
    await expectSameForNewcomers(terminal, live);
    await close(terminal);
  });

  test("gets a paste of 256 KB whole", async () => {
    const [terminal] = await started({ command: "cat >pasted; echo done" });
    const text = Array.from({ length: 262_144 / 64 }, (_, n) => `${String(n).padStart(63, ".")}\n`).join("");
    await terminal.type(text);
    await terminal.type("\x04");
    await terminal.waitFor("done", 20);
    expect((await Bun.file(join(daemon.dir, "pasted")).text()) === text).toBe(true);
  });
});

/**
 * Not only started: what is typed a moment before that is for the shell, which ignores it; and so does the shell's copy
 * that is about to become the job.
 */
const hasForegroundJob = ({ pid }: Terminal) =>
  processOf(processOf(pid)!.foregroundGroup)?.args.startsWith("sleep ");

needs("less").test(
  "less: pages, searches, is restored in the middle, and leaves the screen as it was",
  async () => {
    const [terminal, live] = await started({ command: "echo before; read go; less text; echo after; cat" });
    await terminal.waitFor("before");
    await terminal.type("\r");
    await terminal.waitFor("23: some text");
    expect((await terminal.snapshot()).alternate_screen).toBe(true);
    await terminal.type(" ");
    await terminal.waitFor("46: some text");
    await expectSameForNewcomers(terminal, live);
    await terminal.type("/200:\r");
    await terminal.waitFor("200: some text");
    await expectSameForNewcomers(terminal, live);
    await wire.call("pty.resize", { session_id: terminal.id, cols: 60, rows: 15 });
    await wire.call("pty.wait", { session_id: terminal.id, until: { idle_ms: 150 } });
    await expectSameForNewcomers(terminal, live);
    await terminal.type("q");
    const screen = await terminal.waitFor("after");
    expect(screen.alternate_screen).toBe(false);
    expect(screen.lines!.join("\n")).toContain("before");
    await expectSameForNewcomers(terminal, live);
    await close(terminal);
  },
);

needs("vim").test("vi: types, is restored in the middle, saves", async () => {
  const [terminal, live] = await started({
    command: "vi -u NONE -N -n written",
    env: { VIMINIT: "set nocp ruler" },
  });
  await terminal.waitFor("~");
  await terminal.type("ifirst line\rsecond 漢字 line\x1b");
  await terminal.waitFor("second 漢字 line");
  await expectSameForNewcomers(terminal, live);
  await terminal.type("yy20pgg");
  await wire.call("pty.wait", { session_id: terminal.id, until: { idle_ms: 150 } });
  await expectSameForNewcomers(terminal, live);
  await wire.call("pty.resize", { session_id: terminal.id, cols: 100, rows: 30 });
  await expectSameForNewcomers(terminal, live);
  await terminal.type("dG:wq\r");
  await terminal.waitForExit();
  expect(await terminal.summary()).toMatchObject({ exit_code: 0 });
});

needs("top").test("top: draws, is restored in the middle, quits", async () => {
  const [terminal, live] = await started({ command: "top -d 100", cols: 100, rows: 30 });
  await terminal.waitFor("PID USER");
  await expectSameForNewcomers(terminal, live);
  await terminal.type("q");
  await terminal.waitForExit();
});

test("a reader in raw mode gets each byte as it is", async () => {
  const [terminal] = await started({
    command: "stty raw -echo; echo ready; dd bs=1 count=9 2>/dev/null | od -An -tx1",
  });
  await terminal.waitFor("ready");
  await wire.call("pty.write", {
    session_id: terminal.id,
    data: Buffer.from([0, 3, 4, 13, 10, 0x1a, 0x1c, 0xff, 0x80]).toString("base64"),
    encoding: "base64",
  });
  await terminal.waitFor("00 03 04 0d 0a 1a 1c ff 80");
});

test("a program that asks its terminal is answered where nobody watches", async () => {
  const ask = `stty raw -echo; printf '\\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c; stty sane; echo done`;
  const terminal = await newTerminal(wire, { command: ask });
  const { lines } = await terminal.waitFor("done");
  expect(lines!.join(" ")).toMatch(/033\s+\[\s+1\s+;\s+1\s+R/);
});
