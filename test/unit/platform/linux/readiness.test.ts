// Callbacks for descriptors that can be read, which nothing else reads.
import { expect } from "bun:test";
import { closeSync, writeSync } from "node:fs";
import { createPipe, readInto } from "../../../../src/platform/libc.ts";
import { unwatchReadable, watchReadable } from "../../../../src/platform/linux/readiness.ts";
import { needs } from "../../../support/needs.ts";
import { until } from "../../../support/wait.ts";

const { test } = needs("linux");

const turns = async (count: number) => {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
};

test("calls back while the descriptor is readable, and not otherwise", async () => {
  const { readFd, writeFd } = createPipe();
  const calls: boolean[] = [];
  const memory = Buffer.alloc(16);
  let taken = 0;
  expect(
    watchReadable(readFd, (isHungUp) => {
      calls.push(isHungUp);
      if (calls.length % 3 === 0) taken += Math.max(0, readInto(readFd, memory, 0));
    }),
  ).toBe(true);
  await turns(20);
  expect(calls.length).toBe(0);
  for (let round = 1; round <= 50; round++) {
    writeSync(writeFd, "x");
    Bun.gc(true);
    await until("the byte", () => taken === round);
  }
  const known = calls.length;
  await turns(50);
  expect(calls.length).toBe(known); // nothing wakes it while there is nothing
  expect(calls).not.toContain(true);
  closeSync(writeFd);
  await until("the end", () => calls.at(-1) === true);
  unwatchReadable(readFd);
  const ended = calls.length;
  await turns(20);
  expect(calls.length).toBe(ended);
  closeSync(readFd);
});

test("an exception of one callback does not affect the others", async () => {
  const failing = createPipe();
  const other = createPipe();
  const script = `
    import { watchReadable, unwatchReadable } from "${import.meta.dir}/../../../../src/platform/linux/readiness.ts";
    process.on("uncaughtException", (error) => { console.log("caught", error.message); });
    watchReadable(${3}, () => { unwatchReadable(3); throw new Error("of one"); });
    watchReadable(${4}, () => { unwatchReadable(4); console.log("read"); setTimeout(() => process.exit(0), 10); });
    setInterval(() => {}, 1000);
  `;
  writeSync(failing.writeFd, "x");
  writeSync(other.writeFd, "x");
  const child = Bun.spawn([process.execPath, "-e", script], {
    stdio: ["ignore", "pipe", "inherit", failing.readFd, other.readFd],
  });
  const printed = await new Response(child.stdout as ReadableStream).text();
  expect(printed.split("\n").sort()).toEqual(["", "caught of one", "read"]);
  expect(await child.exited).toBe(0);
  for (const { readFd, writeFd } of [failing, other]) for (const fd of [readFd, writeFd]) closeSync(fd);
});
