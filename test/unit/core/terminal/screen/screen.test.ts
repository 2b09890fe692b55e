import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { terminalRingBytes } from "../../../../../src/core/limits.ts";
import { OutputRing } from "../../../../../src/core/terminal/ring.ts";
import { Screen } from "../../../../../src/core/terminal/screen/screen.ts";
import { ScreenProcessError } from "../../../../../src/core/terminal/screen/screen-process.ts";
import { Display } from "../../../../support/screen.ts";
import { lostProcess, overBudget, queuesHere } from "../../../../support/screen-runner.ts";

const size = { cols: 40, rows: 10 };

/** The event loop takes a turn after so many bytes, as between two reads of a program's output. */
const turnBytes = 64 * 1024;

async function feed(pieces: Iterable<string | Uint8Array>, isAttended = true) {
  const ring = new OutputRing(terminalRingBytes);
  const replies: string[] = [];
  const { queues, runner, quarantineRunner } = queuesHere();
  const screen = new Screen(ring, size, queues, (text) => void (text && replies.push(text)));
  let unturned = 0;
  const display = new Display(size.cols, size.rows);
  for (const piece of pieces) {
    const bytes = Buffer.from(piece as string);
    ring.push(bytes);
    screen.printed(bytes, isAttended);
    display.write(bytes);
    unturned += bytes.length;
    if (unturned < turnBytes) continue;
    unturned = 0;
    await Bun.sleep(0);
  }
  const print = (text: string, attended = isAttended) => {
    ring.push(Buffer.from(text));
    screen.printed(Buffer.from(text), attended);
    display.write(text);
  };
  return { ring, screen, display, replies, print, runner, quarantineRunner };
}

const linesOf = async (screen: Screen, scrollback: number): Promise<string[]> =>
  (await screen.ask({ kind: "shown", format: "text", scrollback })).answer.lines!;

const history = ({ terminal }: Display): string[] => {
  const { active } = terminal.buffer;
  return Array.from(
    { length: active.baseY + terminal.rows },
    (_, at) => active.getLine(at)?.translateToString(true) ?? "",
  );
};

const repeated = (line: (n: number) => string, count: number, perPiece = 100) =>
  Array.from({ length: count / perPiece }, (_, piece) =>
    Array.from({ length: perPiece }, (_, at) => line(piece * perPiece + at)).join(""),
  );

describe("after a flood, screen and history equal those of a display that read every byte:", () => {
  const floods: Record<string, string[]> = {
    "plain lines": repeated((n) => `line ${n} of a flood\r\n`, 60_000),
    "long lines": repeated((n) => `${n} ${"0123456789".repeat(20)}\r\n`, 6_000),
    "very short lines": repeated((n) => `${n % 10}\r\n`, 300_000, 1000),
    "wide characters": repeated((n) => `${n} 漢字 é 한국어\r\n`, 40_000),
    "colours that stay": repeated((n) => `\x1b[3${n % 8}m${n}\x1b[1m bold ${n}\r\n`, 40_000),
    "colours that are reset": repeated((n) => `\x1b[32m${n}\x1b[0m ok\r\n`, 40_000),
    "line feeds alone": repeated((n) => `${n}\n`, 100_000),
    "a progress bar": repeated((n) => `\r${n} %`, 100_000),
    "cursor moves": repeated((n) => `\x1b[${(n % 10) + 1};${(n % 40) + 1}H${n}`, 60_000),
    "lines after a scroll region": ["\x1b[2;5r", ...repeated((n) => `line ${n}\r\n`, 60_000)],
    "lines with the wrap off": ["\x1b[?7l", ...repeated((n) => `${n} ${"x".repeat(60)}\r\n`, 20_000)],
    "lines in the alternate screen": ["main\r\n\x1b[?1049h", ...repeated((n) => `line ${n}\r\n`, 60_000)],
    "lines in a title that never ends": ["\x1b]2;", ...repeated((n) => `line ${n}\r\n`, 60_000)],
    "tabs and carriage returns": repeated((n) => `${n}\tx\ty\rz\r\n`, 40_000),
    "one line without end": repeated((n) => `${n} `, 200_000, 1000),
    // Enough that output is skipped once, right after the content of the screen.
    "lines over a screen that is full": [
      `${"#".repeat(size.cols - 1)}\r\n`.repeat(size.rows - 1),
      "\x1b[H",
      ...repeated((n) => `line ${n}\r\n`, 30_000),
    ],
    "lines behind a line feed alone": [
      "xxxxx\n",
      ...repeated((n) => `${n}\r\n`, 40_000),
      `${"\n".repeat(2010)}X`,
    ],
    "a title in the middle": [
      ...repeated((n) => `line ${n}\r\n`, 30_000),
      "\x1b]2;here\x07",
      ...repeated((n) => `line ${n}\r\n`, 30_000),
    ],
  };
  for (const [name, pieces] of Object.entries(floods)) {
    test(name, async () => {
      const { screen, display } = await feed(pieces);
      expect(await linesOf(screen, 2000)).toEqual(history(display));
      const restored = new Display(size.cols, size.rows);
      restored.write((await screen.ask({ kind: "redraw", scrollback: 0 })).answer);
      expect(restored.picture).toEqual(display.picture);
    });
  }
});

test("late reads, in any pieces and with queries in between, give the same screen", async () => {
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constantFrom("\r\n", "\x1b[31m", "\x1b[H", "漢字", "\x1b[2J", "\t"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 60 }), async (steps) => {
      const ring = new OutputRing(terminalRingBytes);
      const screen = new Screen(ring, size, queuesHere().queues, () => {});
      const display = new Display(size.cols, size.rows);
      for (const [piece, looks] of steps) {
        const bytes = Buffer.from(piece);
        ring.push(bytes);
        screen.printed(bytes, true);
        display.write(bytes);
        if (looks) await screen.caughtUp();
        if (looks) screen.closeIdle(0);
      }
      expect(await linesOf(screen, 100)).toEqual(history(display));
    }),
    { numRuns: 300 },
  );
});

test("a size applies from the offset where it was set, even if the output is read later", async () => {
  const { screen, display, print } = await feed([`${"0123456789".repeat(8)}\r\n`]);
  screen.resized({ cols: 20, rows: 5 });
  display.terminal.resize(20, 5);
  print("abc");
  const before = await linesOf(screen, 0);
  expect(before).toEqual(display.lines);
  screen.closeIdle(0);
  expect(await linesOf(screen, 0)).toEqual(before);
});

describe("a terminal query", () => {
  const terminalQueries = ["\x1b[c", "\x1b[6n", "\x1b[5n", "\x1b[>c", "\x1b[?2004$p", "\x1b[?6n"];
  const repliesTo = async (pieces: string[]): Promise<string[]> => {
    const { screen, replies } = await feed(pieces, false);
    await screen.caughtUp();
    return replies;
  };

  test("has a reply if no display is attached", async () => {
    for (const query of terminalQueries) {
      const { replies } = await feed([query], false);
      await Bun.sleep(0);
      expect(replies.length, query).toBe(1);
    }
  });

  test("has a reply if it comes in pieces", async () => {
    for (const query of terminalQueries)
      expect((await repliesTo(query.split(""))).join("").split("\x1b").length, query).toBe(2);
  });

  test("has no reply if a display is attached, or when it is read later or again", async () => {
    const { screen, replies, print, runner } = await feed(terminalQueries, true);
    await screen.caughtUp();
    screen.closeIdle(0);
    print("x", false);
    await screen.caughtUp();
    expect(replies).toEqual([]);
    print("\x1b[6n", false);
    await screen.caughtUp();
    expect(replies).toEqual(["\x1b[1;2R"]);
    screen.closeIdle(0);
    await screen.caughtUp();
    runner.end();
    await screen.caughtUp();
    expect(replies.length).toBe(1);
  });
});

describe("a crash of the screen process", () => {
  test("loses nothing if the ring has all output", async () => {
    const { screen, display, runner, print } = await feed(["one\r\n", "\x1b[31mtwo"]);
    screen.resized({ cols: 20, rows: 5 });
    display.terminal.resize(20, 5);
    await screen.caughtUp();
    runner.end();
    print(" three");
    runner.failures = [lostProcess()];
    expect(await linesOf(screen, 0)).toEqual(display.lines);
    expect(screen.error).toBeUndefined();
  });

  test("loses nothing if the ring has lost the beginning of the output", async () => {
    const header = "\x1b]2;title\x07\x1b[?1049h\x1b[Hpainted once";
    const updates = repeated((n) => `\x1b[3;1Hupdate ${n}\x1b[K`, 700_000, 1000);
    const { screen, display, runner, ring, print } = await feed([header, ...updates]);
    await screen.caughtUp();
    expect(ring.start).toBeGreaterThan(header.length);
    for (const _ of [1, 2]) {
      runner.end();
      print("\x1b[5;1Hnew");
      expect(await linesOf(screen, 0)).toEqual(display.lines);
      const { answer } = await screen.ask({ kind: "shown", format: "text", scrollback: 0 });
      expect(answer).toMatchObject({ title: "title", alternate_screen: true });
    }
    expect(screen.error).toBeUndefined();
  });

  test("loses output that was overwritten unread, and reports it", async () => {
    const { screen, print, ring } = await feed(["\x1b[Hfirst"]);
    await screen.caughtUp();
    for (const text of repeated((n) => `\x1b[Hline ${n}\x1b[K`, 700_000, 1000)) print(text);
    expect((await linesOf(screen, 0))[0]).toBe("line 699999");
    expect(screen.error).toContain(`after byte ${ring.start}`);
  });

  test("pauses the screen if the process cannot be started", async () => {
    const { screen, runner, quarantineRunner, display } = await feed(["precious"]);
    runner.failures = [new ScreenProcessError("no descriptors", "unavailable")];
    await expect(linesOf(screen, 0)).rejects.toThrow("no descriptors");
    using _later = laterBy(2000);
    expect(await linesOf(screen, 0)).toEqual(display.lines);
    expect([screen.error, quarantineRunner.works.length]).toEqual([undefined, 0]);
  });

  test("is attributed to one screen after repeated crashes, which pauses that screen", async () => {
    const { screen, runner } = await feed(["text"]);
    runner.failures = [lostProcess(), lostProcess(), lostProcess()];
    expect(linesOf(screen, 0)).rejects.toThrow("its process has ended");
  });
});

test("plain output that was overwritten unread loses nothing", async () => {
  const { screen, display, print, ring } = await feed(["\x1b[32mbefore\x1b[0m\r\n"]);
  await screen.caughtUp();
  for (const text of repeated((n) => `\x1b[3${n % 8}mline ${n} of a flood\x1b[0m\r\n`, 400_000, 1000))
    print(text);
  expect(ring.start).toBeGreaterThan(100_000);
  expect(await linesOf(screen, 2000)).toEqual(history(display));
  expect(screen.error).toBeUndefined();
});

test("sizes set within overwritten output, and right after a whole piece of work, apply", async () => {
  const { screen, display, print } = await feed([]);
  const resize = (cols: number, rows: number) => {
    screen.resized({ cols, rows });
    display.terminal.resize(cols, rows);
  };
  for (let n = 0; n < 40; n++) {
    for (const text of repeated((at) => `\x1b[3;1Hhello ${at}\x1b[K`, 20_000, 1000)) print(text);
    resize(40 + (n % 20), 10 + (n % 5));
  }
  expect((await linesOf(screen, 0)).length).toBe(14);
  print(`\x1b[2J\x1b[H${"x".repeat(16 * 1024)}`);
  resize(30, 7);
  expect(await linesOf(screen, 0)).toEqual(display.lines);
});

test("a slow screen moves to the quarantine process and loses nothing", async () => {
  const { screen, display, print, runner, quarantineRunner } = await feed(["before"]);
  runner.busyMs = 500;
  for (let n = 0; n < 5; n++) {
    print(` ${n}`);
    await screen.caughtUp();
  }
  await Bun.sleep(0);
  expect(quarantineRunner.works.length).toBeGreaterThan(0);
  expect(runner.works.at(-1)).toMatchObject({ close: true });
  expect(await linesOf(screen, 0)).toEqual(display.lines);
  expect(screen.error).toBeUndefined();
});

describe("a screen that exceeds its budget", () => {
  test("reports it, and continues with a fresh emulator in the quarantine process", async () => {
    const { screen, runner, quarantineRunner, print, ring } = await feed(["hostile"]);
    runner.failures = [overBudget()];
    expect(linesOf(screen, 0)).rejects.toThrow("takes too long");
    await Bun.sleep(0);
    expect(screen.error).toContain(`after byte ${ring.end}`);
    print("\r\nafter");
    await expect(linesOf(screen, 0)).rejects.toThrow(); // no retry before the backoff is over
    using clock = laterBy(2000);
    expect((await linesOf(screen, 0)).slice(0, 2)).toEqual(["", "after"]);
    expect([runner.works.length, quarantineRunner.works.length]).toEqual([1, 1]);
    expect(clock.isSet).toBe(true);
  });

  test("rejects the waits for it", async () => {
    const { screen, runner, print } = await feed([]);
    const { found } = screen.waitFor({ text: "done" });
    await Bun.sleep(0);
    runner.failures = [overBudget()];
    print("done");
    expect(found).rejects.toThrow("cannot be waited for");
    await Bun.sleep(0);
  });
});

test("patterns are found in lines that scroll away, and after a crash of the process", async () => {
  const { screen, runner, print } = await feed([]);
  const waits = ["needle 77\\b", "bc[d-f]e"].map((regex) => screen.waitFor({ regex }));
  for (let line = 0; line < 3000; line++) print(`needle ${line}\r\n`);
  expect(await waits[0]!.found).toBe("regex");
  runner.end();
  print("abcde");
  expect(await waits[1]!.found).toBe("regex");
  const text = screen.waitFor({ text: "abc" });
  expect(await text.found).toBe("text");
});

test("an invalid regular expression is refused", async () => {
  const { screen } = await feed(["x"]);
  for (const regex of ["(", "a".repeat(20_000)])
    expect(screen.waitFor({ regex }).found).rejects.toThrow("until.regex");
  await screen.caughtUp();
});

test("expressions that take a backtracking engine exponential time are matched in linear time", async () => {
  const { screen, print } = await feed([]);
  const prompt = screen.waitFor({ regex: "([\\w.-]+\\s*)+[$#] $" });
  const nested = screen.waitFor({ regex: "(a+)+$" });
  for (let line = 0; line < 200; line++) print(`npm warn deprecated package-${line} ${"a".repeat(60)}!\r\n`);
  print("user@host $ ");
  expect(await prompt.found).toBe("regex");
  print("\r\naaa");
  expect(await nested.found).toBe("regex");
});

/** Moves `performance.now` forward. */
function laterBy(ms: number) {
  const now = performance.now;
  performance.now = () => now.call(performance) + ms;
  return {
    isSet: true,
    [Symbol.dispose]() {
      performance.now = now;
    },
  };
}
