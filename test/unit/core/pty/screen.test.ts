import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { terminalRingBytes } from "../../../../src/core/limits.ts";
import { OutputRing } from "../../../../src/core/pty/output-ring.ts";
import { Screen } from "../../../../src/core/pty/screen.ts";
import { Display } from "../../../support/screen.ts";

const size = { cols: 40, rows: 10 };

function feed(pieces: Iterable<string | Uint8Array>, isAttended = true) {
  const ring = new OutputRing(terminalRingBytes);
  const replies: string[] = [];
  const screen = new Screen(ring, size, (text) => replies.push(text));
  const display = new Display(size.cols, size.rows);
  for (const piece of pieces) {
    const bytes = Buffer.from(piece as string);
    ring.push(bytes);
    screen.printed(bytes, isAttended);
    display.write(bytes);
  }
  return { ring, screen, display, replies };
}

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

describe("after a flood the screen and its history are those of one who has read every byte:", () => {
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
    // So much that something is left out once, right behind what was there.
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
    test(name, () => {
      const { screen, display } = feed(pieces);
      const emulator = screen.read();
      expect(emulator.lines(2000)).toEqual(history(display));
      const restored = new Display(size.cols, size.rows);
      restored.write(emulator.redraw(0));
      expect(restored.picture).toEqual(display.picture);
    });
  }
});

test("what is read late, in any pieces and with looks in between, is the same", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constantFrom("\r\n", "\x1b[31m", "\x1b[H", "漢字", "\x1b[2J", "\t"),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 60 }), (steps) => {
      const ring = new OutputRing(terminalRingBytes);
      const screen = new Screen(ring, size, () => {});
      const display = new Display(size.cols, size.rows);
      for (const [piece, looks] of steps) {
        const bytes = Buffer.from(piece);
        ring.push(bytes);
        screen.printed(bytes, true);
        display.write(bytes);
        if (looks) screen.read();
        if (looks) screen.rest(0);
      }
      expect(screen.read().lines(100)).toEqual(history(display));
    }),
    { numRuns: 300 },
  );
});

test("sizes hold from where they were set, however late the output is read", () => {
  const { ring, screen, display } = feed([`${"0123456789".repeat(8)}\r\n`]);
  screen.resized({ cols: 20, rows: 5 });
  display.terminal.resize(20, 5);
  ring.push(Buffer.from("abc"));
  display.write("abc");
  const before = screen.read().lines(0);
  expect(before).toEqual(display.lines);
  screen.rest(0);
  expect(screen.read().lines(0)).toEqual(before);
});

describe("a question to the terminal", () => {
  const questions = ["\x1b[c", "\x1b[6n", "\x1b[5n", "\x1b[>c", "\x1b[?2004$p", "\x1b[?6n"];

  test("is answered at once where no display is there to do it", () => {
    for (const question of questions) expect(feed([question], false).replies.length, question).toBe(1);
  });

  test("also where it comes in pieces", () => {
    for (const question of questions)
      expect(feed(question.split(""), false).replies.length, question).toBe(1);
  });

  test("is not where one is there, nor when it is read later, nor when it is read again", () => {
    const { ring, screen, replies } = feed(questions, true);
    screen.read();
    screen.rest(0);
    ring.push(Buffer.from("x"));
    screen.printed(Buffer.from("x"), false);
    screen.read();
    expect(replies).toEqual([]);
    ring.push(Buffer.from("\x1b[6n"));
    screen.printed(Buffer.from("\x1b[6n"), false);
    expect(replies).toEqual(["\x1b[1;2R"]);
    screen.rest(0);
    screen.read();
    expect(replies.length).toBe(1);
  });
});
