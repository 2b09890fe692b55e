import { expect, test } from "bun:test";
import { closeFd, createPipe, writeWhole } from "../../../../src/core/process/libc.ts";
import { PipeReader, type Sink } from "../../../../src/core/process/pipe-reader.ts";

function pipeTo(sink: Sink) {
  const { readFd, writeFd } = createPipe();
  const reader = new PipeReader(readFd, sink);
  return {
    reader,
    write: (text: string) => writeWhole(writeFd, Buffer.from(text)),
    end: () => reader.stop(),
  };
}

test("what is read out of turn is there at once, and what comes later comes behind it", async () => {
  let text = "";
  const { reader, write, end } = pipeTo((chunk) => {
    text += Buffer.from(chunk).toString();
  });
  write("one");
  reader.readNow();
  expect(text).toBe("one");
  await reader.drained(1000);
  reader.readNow();
  expect(text).toBe("one");
  write("two");
  await reader.drained(1000); // nothing was read out of turn since: it is looked for
  expect(text).toBe("onetwo");
  write("three");
  reader.readNow();
  expect(text).toBe("onetwothree");
  await end();
});

test("a sink that takes its time has it, and nothing overtakes", async () => {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const { reader, write, end } = pipeTo(async (chunk) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    taken.push(Buffer.from(chunk).toString());
  });
  write("one");
  reader.readNow();
  write("two");
  reader.readNow(); // is left for later
  const drained = reader.drained(1000);
  while (taken.length < 2) {
    waiting.shift()?.();
    await Bun.sleep(1);
  }
  await drained;
  expect(taken).toEqual(["one", "two"]);
  await end();
});

test("a descriptor that has been closed is not read: its number may be another's", async () => {
  let text = "";
  const gone = createPipe();
  const reader = new PipeReader(gone.readFd, (chunk) => {
    text += Buffer.from(chunk).toString();
  });
  closeFd(gone.writeFd);
  await reader.ended;
  const others = [createPipe(), createPipe()];
  expect(others.flatMap(({ readFd, writeFd }) => [readFd, writeFd])).toContain(gone.readFd);
  for (const { writeFd } of others) writeWhole(writeFd, Buffer.from("not yours"));
  reader.readNow();
  expect(text).toBe("");
  for (const { readFd, writeFd } of others) for (const fd of [readFd, writeFd]) closeFd(fd);
});
