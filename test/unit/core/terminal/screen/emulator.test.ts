import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Emulator } from "../../../../../src/core/terminal/screen/emulator.ts";
import { Display } from "../../../../support/screen.ts";

const cols = 20;
const rows = 6;

const number = fc.integer({ min: 1, max: 8 });
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 30 }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom("漢字", "é", "a\u0301", "한국어", "█▓", "line\r\n", "\r\n", "\t", "\b"),
  },
  { weight: 3, arbitrary: fc.tuple(number, number).map(([y, x]) => `\x1b[${y};${x}H`) },
  { weight: 2, arbitrary: fc.tuple(number, fc.constantFrom(..."ABCDGLM")).map(([n, f]) => `\x1b[${n}${f}`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "\x1b[1m",
      "\x1b[31m",
      "\x1b[48;5;200m",
      "\x1b[38;2;1;2;3m",
      "\x1b[7;4m",
      "\x1b[m",
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("\x1b[2J", "\x1b[K", "\x1b[1K", "\x1b[J") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "\x1b[?1049h",
      "\x1b[?1049l",
      "\x1b[?25l",
      "\x1b[?25h",
      "\x1b[?1000h",
      "\x1b[?1002h",
      "\x1b[?1006h",
      "\x1b[?1l",
      "\x1b[?1h",
      "\x1b[?2004h",
      "\x1b[?1004h",
      "\x1b=",
      "\x1b>",
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("\x1b[2;4r", "\x1b[r", "\x1b[3;6r") },
);
const session = fc.array(piece, { maxLength: 40 });

function emulator(size = { cols, rows }): Emulator {
  return new Emulator(size, () => {});
}

/** A display that reads the same output from its beginning. */
function live(output: string): Display {
  const display = new Display(cols, rows);
  display.write(output);
  return display;
}

describe("a redraw", () => {
  test("shows the same cells on a terminal with any earlier content", () => {
    fc.assert(
      fc.property(session, session, (before, output) => {
        const mine = emulator();
        mine.write(output.join(""));
        const restored = live(before.join(""));
        restored.write(mine.redraw(0));
        const wanted = live(output.join(""));
        expect(restored.picture).toEqual(wanted.picture);
      }),
      { numRuns: 400 },
    );
  });

  test("restores the state in which the program's next output has the same effect", () => {
    fc.assert(
      fc.property(
        session,
        fc.array(fc.constantFrom("x", "line\r\n", "\x1b[2C", "漢"), { maxLength: 12 }),
        (output, rest) => {
          const mine = emulator();
          mine.write(output.join(""));
          const restored = live("");
          restored.write(mine.redraw(0) + rest.join(""));
          const wanted = live(output.join("") + rest.join(""));
          expect(restored.picture.rows).toEqual(wanted.picture.rows);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("contains no terminal queries", () => {
    const replies: string[] = [];
    const asked = new Emulator({ cols, rows }, (text) => replies.push(text));
    asked.write("\x1b[c\x1b[6n\x1b[>c\x1b[?2004$p");
    expect(replies.length).toBe(4);
    const drawn = asked.redraw(100);
    const again = new Emulator({ cols, rows }, () => expect.unreachable());
    again.write(drawn);
  });

  test("restores the title, the cursor style, the mouse encoding and the rarer modes", () => {
    const mine = emulator();
    mine.write("\x1b]2;a title\x07\x1b[5 q\x1b[?1003h\x1b[?1006h\x1b[?7l\x1b[4h\x1b[?6h\x1b[2;3r");
    const again = emulator();
    again.write(mine.redraw(0));
    expect(again.title).toBe("a title");
    expect(again.redraw(0)).toBe(mine.redraw(0));
  });

  test("contains the requested number of history lines", () => {
    const mine = emulator();
    for (let line = 1; line <= 50; line++) mine.write(`${line}\r\n`);
    const display = live("");
    display.write(mine.redraw(10));
    expect(display.terminal.buffer.active.baseY).toBe(10);
    expect(display.terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("36");
    expect(mine.lines(2)).toEqual(["44", "45", "46", "47", "48", "49", "50", ""]);
  });
});

test("output that makes the emulator throw loses that sequence only", () => {
  const mine = emulator();
  mine.write("\x1b[6;1H12345678901234567890");
  mine.write("\x1b[1J");
  mine.write("\x1b[Hgoes on");
  expect(mine.lines(0)[0]).toBe("goes on");
});

test("the text for pattern searches joins wrapped rows", () => {
  const mine = emulator();
  mine.write(`${"0123456789".repeat(5)}\r\nnext`);
  expect(mine.logicalText(0).startsWith(`${"0123456789".repeat(5)}\nnext\n`)).toBe(true);
});

describe("the repeat count", () => {
  const most = 2 ** 31 - 1;
  const begin = "one\r\ntwo\r\nthree\x1b[2;5r\x1b[3;4Hx";
  const shown = (text: string) => {
    const emulator = new Emulator({ cols, rows }, () => {});
    emulator.write(begin + text);
    const result = { lines: emulator.lines(100), cursor: emulator.cursor };
    emulator.dispose();
    return result;
  };

  test.each([..."STLMIZ"])("of %s is bounded by the size of the screen", (final) => {
    expect(shown(`\x1b[${most}${final}`)).toEqual(shown(`\x1b[1${final}`.repeat(Math.max(cols, rows))));
  });

  test("of b fills the screen, and ends in the column of the unbounded repetition", () => {
    const { lines, cursor } = shown(`\x1b[${most}b`);
    expect(lines).toContain("x".repeat(cols));
    expect(cursor.col).toBe(shown(`\x1b[${most % cols}b`).cursor.col);
  });

  test("of no sequence keeps the emulator busy", () => {
    // Terminates; an unbounded repetition would take minutes.
    for (const prefix of ["", "?", ">", "=", "<"])
      for (const between of ["", " ", "!", '"', "$", "'", "*", "#"])
        for (let final = 0x40; final <= 0x7e; final++)
          for (const params of [`${most}`, `${most};${most}`, `1;${most};5;${most}`])
            shown(`\x1b[${prefix}${params}${between}${String.fromCharCode(final)}`);
  });
});
