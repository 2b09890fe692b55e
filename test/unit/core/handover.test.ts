// What is written down and taken up again is the same as before.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { scrollbackLines } from "../../../src/core/limits.ts";
import { StreamLog } from "../../../src/core/process/stream-log.ts";
import { OutputRing } from "../../../src/core/terminal/ring.ts";
import { Screen } from "../../../src/core/terminal/screen/screen.ts";
import { firstSizeOf } from "../../../src/core/terminal/screen/sizes.ts";
import type { Packing, Unpacking } from "../../../src/upgrade/schema/fields.ts";
import { queuesHere } from "../../support/screen-runner.ts";

const ringBytes = 16 * 1024;

/** In memory; and through JSON, as the document goes. */
function parcel(): Packing & Unpacking {
  const pieces: Uint8Array[] = [];
  return {
    bytes(piece: never): never {
      if (!((piece as unknown) instanceof Uint8Array)) return pieces[(piece as { at: number }).at] as never;
      const kept = piece as Uint8Array;
      return { at: pieces.push(new Uint8Array(kept)) - 1, length: kept.length } as never;
    },
    descriptor: (fd) => fd,
    gapMs: 0,
  };
}

const throughJson = <T>(state: T): T => JSON.parse(JSON.stringify(state)) as T;

test("a stream's log, however much of it was dropped or expanded", () => {
  const kibibytes = fc.integer({ min: 0, max: 300 }); // of 512 that are kept
  const larger = fc.integer({ min: 512, max: 1200 });
  const step = fc.record({ push: kibibytes, expand: fc.option(kibibytes), shrink: fc.option(larger) });
  type Step = { push: number; expand: number | null; shrink: number | null };
  const steps = (maxLength: number) => fc.array(step, { maxLength });
  fc.assert(
    fc.property(fc.constantFrom(1024, 1024 * 1024), steps(12), steps(4), (keptBytesMax, before, after) => {
      const given = parcel();
      const log = new StreamLog(keptBytesMax);
      let count = 0;
      const apply = (target: StreamLog, { push, expand, shrink }: Step) => {
        if (expand) target.expand(expand * 1024);
        if (shrink) target.shrink(shrink * 1024, Number.POSITIVE_INFINITY);
        target.push(pattern.subarray(count % 251, (count % 251) + push * 1024));
      };
      for (const it of before) {
        apply(log, it);
        count += it.push * 1024;
      }
      const taken = StreamLog.from(throughJson(log.pack(given)), given);
      expectSame(taken, log);
      for (const it of after) {
        apply(log, it);
        apply(taken, it);
        count += it.push * 1024;
        expectSame(taken, log);
      }
    }),
    { numRuns: 40 },
  );
});

test("a stream's log that shrinks after the upgrade still has all of its output", () => {
  const given = parcel();
  const log = new StreamLog(1024 * 1024);
  log.push(pattern);
  const taken = StreamLog.from(throughJson(log.pack(given)), given);
  expect(taken.shrink(512 * 1024, Number.POSITIVE_INFINITY)).toBeTrue();
  expect(taken.firstFrom(300 * 1024)).toBe(300 * 1024);
  expect(Buffer.compare(taken.parts(false).head, pattern)).toBe(0);
});

const pattern = Uint8Array.from({ length: 310 * 1024 }, (_, at) => at % 251);

function expectSame(taken: StreamLog, log: StreamLog): void {
  expect(taken.totalBytes).toBe(log.totalBytes);
  for (let at = 0; at < log.totalBytes; at += 100_003) {
    const from = log.firstFrom(at);
    expect([at, taken.firstFrom(at), taken.spaceFor(at)]).toEqual([at, from, log.spaceFor(at)]);
    expect(Buffer.compare(taken.read(from, 5000), log.read(from, 5000))).toBe(0);
  }
}

test.each([
  ["a short one, from all that was printed", 50],
  ["a long one, by a redraw", 4000],
])("a screen: %s", async (_, lines) => {
  const given = parcel();
  const size = { cols: 40, rows: 6 };
  const ring = new OutputRing(ringBytes);
  const replies: string[] = [];
  const { queues } = queuesHere();
  const screen = new Screen(ring, size, queues, (text) => void (text && replies.push(text)));
  const print = (to: Screen, into: OutputRing, text: string) => {
    const chunk = Buffer.from(text);
    into.push(chunk);
    to.printed(chunk, false);
  };
  for (let line = 0; line < lines; line++)
    print(screen, ring, `\x1b[3${line % 8}mline ${line} \u00e4\x1b[0m\r\n`);
  print(screen, ring, "\x1b]2;title\x07\x1b[6n\x1b[2;4Hhere\x1b[1;3"); // a question, and half a sequence
  await screen.caughtUp();
  const asked = replies.length;
  screen.preparePack();
  await screen.caughtUp();
  expect(screen.isPacked).toBe(true);
  const state = throughJson(screen.pack(given));
  expect(state.kind).toBe(lines > 1000 ? "redraw" : "replay");

  const takenRing = OutputRing.from(throughJson(ring.pack(given)), given, ringBytes);
  expect([takenRing.start, takenRing.end]).toEqual([ring.start, ring.end]);
  const taken = new Screen(
    takenRing,
    firstSizeOf(state)!,
    queues,
    (text) => void (text && replies.push(text)),
  );
  taken.restore(state, given);
  for (const more of ["", "5mbold\x1b[0m", "\r\nand on\x1b[6n"]) {
    print(screen, ring, more);
    await screen.caughtUp();
    const answered = replies.splice(asked);
    print(taken, takenRing, more);
    for (const format of ["text", "ansi"] as const) {
      const query = { kind: "shown", format, scrollback: format === "text" ? scrollbackLines : 0 } as const;
      expect(await taken.ask(query)).toEqual(await screen.ask(query));
    }
    expect(replies.splice(asked)).toEqual(answered); // each question is answered once
  }
});
