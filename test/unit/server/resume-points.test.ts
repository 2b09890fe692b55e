// Resume points keep a reader open for a client that may reconnect, and replace attachments of the same key.
import { describe, expect, test } from "bun:test";
import type { KnownCommand } from "../../../src/core/command/command.ts";
import type { Offsets, OutputReader } from "../../../src/core/command/output.ts";
import type { CommandStore } from "../../../src/core/command/store.ts";
import { ResumePoints } from "../../../src/server/resume-points.ts";

type Reader = OutputReader & { isClosed: boolean };

function readerAt(offsets: Offsets): Reader {
  const reader = {
    offsets,
    isClosed: false,
    close() {
      reader.isClosed = true;
    },
  };
  return reader as unknown as Reader;
}

function commandWithReaders() {
  const opened: Reader[] = [];
  const log = { firstFrom: (offset: number) => offset };
  const openReader = (offsets: Offsets) => {
    opened.push(readerAt(offsets));
    return opened.at(-1)!;
  };
  const output = { isComplete: false, stdout: log, stderr: log, openReader };
  const command = { id: "x-1", output } as unknown as KnownCommand;
  const store = { list: () => [{ command }], get: () => ({ command }) } as unknown as CommandStore;
  return { command, store, opened };
}

const at = (stdout: number): Offsets => ({ stdout, stderr: 0 });

describe("a resume point", () => {
  test("is released by an attachment with its key, which ends the attachment before it", () => {
    const { command } = commandWithReaders();
    const points = new ResumePoints();
    const reader = readerAt(at(5));
    points.keep(command, "key", reader, 30);
    const ended: string[] = [];
    const attachment = (name: string) => ({ end: () => void ended.push(name) });
    const first = attachment("first");
    points.attach(command, "other", attachment("other"));
    expect(reader.isClosed).toBeFalse();
    points.attach(command, "key", first);
    expect(reader.isClosed).toBeTrue();
    points.attach(command, "key", attachment("second"));
    points.detach(command, "key", first);
    points.attach(command, "key", attachment("third"));
    expect(ended).toEqual(["first", "second"]);
  });

  test("expires", async () => {
    const { command, store } = commandWithReaders();
    const points = new ResumePoints();
    const reader = readerAt(at(5));
    points.keep(command, "key", reader, 0.01);
    while (!reader.isClosed) await Bun.sleep(5);
    expect(points.pack(store)).toEqual([]);
  });

  test("without a key is released by the next attachment from its offsets on", () => {
    const { command, opened } = commandWithReaders();
    const points = new ResumePoints();
    points.keepUnkeyed(command, at(10));
    points.releaseUnkeyed(command, at(9));
    expect(opened[0]!.isClosed).toBeFalse();
    points.releaseUnkeyed(command, at(10));
    expect(opened[0]!.isClosed).toBeTrue();
  });

  test("survives an upgrade", () => {
    const { command, store, opened } = commandWithReaders();
    const before = new ResumePoints();
    before.keep(command, "key", readerAt(at(7)), 30);
    const packed = before.pack(store);
    expect(packed).toEqual([{ commandId: "x-1", key: "key", offsets: at(7), leftMs: expect.any(Number) }]);
    const after = new ResumePoints();
    after.restore(store, packed);
    expect(opened[0]!.offsets).toEqual(at(7));
    expect(after.pack(store)).toMatchObject([{ commandId: "x-1", key: "key", offsets: at(7) }]);
  });
});
