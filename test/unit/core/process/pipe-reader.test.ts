import { expect, test } from "bun:test";
import { PipeReader, type Sink } from "../../../../src/core/process/pipe-reader.ts";
import { createPipe, writeWhole } from "../../../../src/platform/libc.ts";
import { until } from "../../../support/wait.ts";

function pipeTo(sink: Sink) {
  const { readFd, writeFd } = createPipe();
  const reader = new PipeReader(readFd, sink);
  return {
    reader,
    write: (text: string) => writeWhole(writeFd, Buffer.from(text)),
    end: () => reader.stop(),
  };
}

test("the sink has everything that was written before the call of drained", async () => {
  let text = "";
  const { reader, write, end } = pipeTo((chunk) => {
    text += Buffer.from(chunk).toString();
  });
  await reader.drained(1000);
  expect(text).toBe("");
  write("one");
  await reader.drained(1000);
  expect(text).toBe("one");
  write("two");
  await reader.drained(1000);
  expect(text).toBe("onetwo");
  await end();
});

test("a slow sink delays the reader, and the order of chunks stays", async () => {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const { reader, write, end } = pipeTo(async (chunk) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    taken.push(Buffer.from(chunk).toString());
  });
  write("one");
  await until("the first to be taken", () => waiting.length > 0);
  write("two"); // stays in the pipe meanwhile
  const drained = reader.drained(1000);
  while (taken.length < 2) {
    waiting.shift()?.();
    await Bun.sleep(1);
  }
  await drained;
  expect(taken).toEqual(["one", "two"]);
  await end();
});
