// Output that the daemon reads in Bun's place, and that Bun reads again: no byte is lost, doubled or in another order.
import { expect } from "bun:test";
import { ownReadingOf } from "../../../../src/core/pty/own-reading-linux.ts";
import { needs } from "../../../support/needs.ts";
import { until } from "../../../support/wait.ts";

needs("linux").test("a program waits while nobody reads, and every byte comes", async () => {
  const last = 100_000;
  const chunks: Buffer[] = [];
  let isEnded = false;
  const child = Bun.spawn(["sh", "-c", `echo begun; read line; seq 1 ${last}`], {
    terminal: {
      cols: 80,
      rows: 24,
      data: (_, chunk) => void chunks.push(Buffer.from(chunk)),
      exit: () => {
        isEnded = true;
      },
    },
  });
  await until("its beginning", () => chunks.length > 0);
  const reading = ownReadingOf(child.pid)!;
  expect(reading.take()).toBe(true);
  const before = chunks.length;
  child.terminal!.write("\n");
  await Bun.sleep(100);
  expect(chunks.length).toBe(before);
  expect(child.exitCode).toBeNull(); // it waits for room
  const memory = Buffer.alloc(8192);
  const kinds = { own: 0, bun: 0 };
  for (let turns = 0; !isEnded; turns++) {
    const length = reading.read(memory, turns % 2 === 0 ? 0 : 0.05);
    if (length > 0) chunks.push(Buffer.from(memory.subarray(0, length)));
    kinds.own += length;
    if (turns % 5 !== 0 && child.exitCode === null) continue;
    const known = chunks.length;
    reading.giveBack();
    await turn();
    if (turns % 3 === 0) await Bun.sleep(1);
    kinds.bun += chunks.length - known;
    if (child.exitCode === null) reading.take();
  }
  expect(await child.exited).toBe(0);
  child.terminal!.close();
  const printed = Array.from({ length: last }, (_, i) => `${i + 1}\r\n`).join("");
  expect(Buffer.concat(chunks).toString()).toBe(`begun\r\n\r\n${printed}`);
  expect(kinds.own).toBeGreaterThan(0);
  expect(kinds.bun).toBeGreaterThan(0);
});

needs("linux").test("who prints byte by byte is not waited for until the memory is full", async () => {
  const child = Bun.spawn(["sh", "-c", "while :; do printf x; done"], {
    terminal: { cols: 80, rows: 24, data() {} },
  });
  await Bun.sleep(20);
  const reading = ownReadingOf(child.pid)!;
  expect(reading.take()).toBe(true);
  const memory = Buffer.alloc(4 * 1024 * 1024);
  for (let length = 0; length === 0; ) {
    length = reading.read(memory, 1000); // nothing, where others have the processors
    expect(length).toBeLessThan(memory.length);
  }
  reading.giveBack();
  child.kill("SIGKILL");
  await child.exited;
  child.terminal!.close();
});

needs("linux").test(
  "a process without a terminal, or one that has ended, has nothing to be read",
  async () => {
    const child = Bun.spawn(["sleep", "60"], { stdio: ["ignore", "ignore", "ignore"] });
    expect(ownReadingOf(child.pid)).toBeUndefined();
    child.kill();
    await child.exited;
    expect(ownReadingOf(child.pid)).toBeUndefined();
  },
);

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
