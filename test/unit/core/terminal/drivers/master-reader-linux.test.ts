// Direct read of a terminal: no byte is lost, duplicated or reordered, and one turn of the event loop reads a bounded
// amount.
import { expect } from "bun:test";
import { closeSync, writeSync } from "node:fs";
import { MasterReader } from "../../../../../src/core/terminal/drivers/master-reader-linux.ts";
import { duplicateMaster } from "../../../../../src/platform/terminal.ts";
import { needs } from "../../../../support/needs.ts";
import { until } from "../../../../support/wait.ts";

const { test } = needs("linux");

/** Starts a program as the native driver does. Retries if it has exited before its terminal is found. */
function spawnOnTerminal(script: string) {
  for (;;) {
    const child = Bun.spawn(["sh", "-c", script], { terminal: { cols: 80, rows: 24 } });
    const fd = duplicateMaster(child.pid);
    if (fd !== undefined) return { child, fd };
    child.terminal!.close();
  }
}

function start(script: string) {
  const { child, fd } = spawnOnTerminal(script);
  const chunks: Buffer[] = [];
  const reader = MasterReader.start(fd, (chunk) => void chunks.push(Buffer.from(chunk)))!;
  child.terminal!.close();
  void child.exited.then(() => reader.programEnded());
  return {
    ...{ child, fd, reader, chunks },
    text: () => Buffer.concat(chunks).toString(),
    async end() {
      await child.exited;
      await reader.ended;
      closeSync(fd);
    },
  };
}

const numbersTo = (last: number) => Array.from({ length: last }, (_, i) => `${i + 1}\r\n`).join("");

test("every byte is delivered, in order, before the end", async () => {
  const last = 200_000;
  const many = [1, 2, 3].map(() => start(`seq 1 ${last}`));
  for (const { end, text, child } of many) {
    await end();
    expect(child.exitCode).toBe(0);
    expect(text()).toBe(numbersTo(last));
  }
});

test("pausing blocks the program, and every byte is delivered afterwards", async () => {
  const last = 100_000;
  const { child, reader, chunks, fd, text, end } = start(`echo begun; read line; seq 1 ${last}`);
  await until("its beginning", () => chunks.length > 0);
  reader.pause();
  const before = chunks.length;
  writeSync(fd, "\n");
  await Bun.sleep(100);
  expect(chunks.length).toBe(before);
  expect(child.exitCode).toBeNull(); // blocked by the full buffer of the terminal
  const memory = Buffer.alloc(8192);
  const counts = { own: 0, watched: 0 };
  for (let turns = 0; child.exitCode === null; turns++) {
    const length = reader.read(memory, turns % 2 === 1);
    if (length > 0) chunks.push(Buffer.from(memory.subarray(0, length)));
    counts.own += length;
    if (turns % 5 !== 0) continue;
    const known = chunks.length;
    reader.resume();
    await turn();
    counts.watched += chunks.length - known;
    if (child.exitCode === null) reader.pause();
  }
  reader.resume();
  await end();
  expect(text()).toBe(`begun\r\n\r\n${numbersTo(last)}`);
  expect(counts.own).toBeGreaterThan(0);
  expect(counts.watched).toBeGreaterThan(0);
});

test("a read returns before its memory is full if a program prints byte by byte", async () => {
  const { child, reader, chunks, end } = start("while :; do printf x; done");
  await until("its beginning", () => chunks.length > 0);
  reader.pause();
  const memory = Buffer.alloc(4 * 1024 * 1024);
  for (let length = 0; length === 0; ) {
    length = reader.read(memory, true); // may be empty on a busy machine
    expect(length).toBeLessThan(memory.length);
  }
  reader.resume();
  child.kill("SIGKILL");
  await end();
});

test("one turn of the event loop reads a bounded amount, and each flood has its share", async () => {
  const floods = Array.from({ length: 6 }, () => start("exec yes 0123456789"));
  const bytes = () => floods.map(({ chunks }) => chunks.reduce((sum, { length }) => sum + length, 0));
  const total = () => bytes().reduce((sum, one) => sum + one);
  let most = 0;
  for (let before = 0; !bytes().every((one) => one > 512 * 1024); ) {
    await turn();
    most = Math.max(most, total() - before);
    before = total();
  }
  for (const { child, reader, fd } of floods) {
    reader.stop();
    child.kill("SIGKILL");
    await child.exited;
    closeSync(fd);
  }
  expect(most).toBeLessThan(2 * 1024 * 1024); // measured: some 0.1 MB; Bun's reader reads for 50 ms and more
});

test("a program may close its terminal and open it again", async () => {
  const { child, text, end } = start(
    "echo a; exec </dev/null >/dev/null 2>&1; sleep 0.3; seq 1 30000 >/dev/tty; exit 3",
  );
  await end();
  expect(child.exitCode).toBe(3);
  expect(text()).toBe(`a\r\n${numbersTo(30_000)}`);
});

test("finish delivers all output that the kernel has buffered", async () => {
  const { child, reader, fd, text } = start("seq 1 2000");
  reader.pause();
  await child.exited;
  reader.finish();
  closeSync(fd);
  expect(text()).toBe(numbersTo(2000));
});

test("a stopped reader delivers nothing more", async () => {
  const { child, reader, chunks, fd } = start("while :; do echo x; done");
  await until("its beginning", () => chunks.length > 0);
  reader.stop();
  const before = chunks.length;
  reader.resume();
  await Bun.sleep(20);
  expect(chunks.length).toBe(before);
  expect(reader.read(Buffer.alloc(100), false)).toBe(0);
  child.kill("SIGKILL");
  await child.exited;
  closeSync(fd);
});

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
