import { describe, expect, test } from "bun:test";
import { AlternateScreen } from "../../../src/cli/ui/terminal/alternate-screen.ts";
import { detachKeyFrom } from "../../../src/cli/ui/terminal/detach-key.ts";

const where = (typed: string, key?: string) => detachKeyFrom(key)(Buffer.from(typed));

describe("the detach key", () => {
  test("is found where it begins, as a byte or as the keyboard protocols send it", () => {
    expect(where("ls\r\x1crest")).toBe(3);
    expect(where("äb\x1c")).toBe(3);
    for (const form of ["\x1b[92;5u", "\x1b[92;5:1u", "\x1b[92;133u", "\x1b[92::47;69;28u", "\x1b[27;5;92~"])
      expect(where(`a${form}`)).toBe(1);
  });

  test("is not another key, nor its release", () => {
    for (const typed of ["\\", "\x1b[92u", "\x1b[92;5:3u", "\x1b[92;6u", "\x1b[93;5u", "\x1b[192;5u", "\x1d"])
      expect(where(typed)).toBe(-1);
  });

  test("can be chosen", () => {
    expect(where("\x01", "ctrl-a")).toBe(0);
    expect(where("\x1b[97;5u", "Ctrl-A")).toBe(0);
    expect(where("\x1a", "ctrl-z")).toBe(0);
    for (const [key, byte] of Object.entries({ "\\": "\x1c", "]": "\x1d", "^": "\x1e", _: "\x1f" }))
      expect(where(byte, `ctrl-${key}`)).toBe(0);
    for (const key of ["", "a", "ctrl-", "ctrl-[", "ctrl-1", "ctrl-ab", "alt-a"])
      expect(() => detachKeyFrom(key)).toThrow("--detach-key");
  });
});

describe("the alternate screen", () => {
  const after = (...pieces: string[]) => {
    const screen = new AlternateScreen();
    for (const piece of pieces) screen.take(Buffer.from(piece));
    return screen;
  };

  test("is shown from its switch on until it is left", () => {
    expect(after("text").isShown).toBe(false);
    expect(after("\x1b[?1049h").isShown).toBe(true);
    expect(after("\x1b[?1;1049;25h", "more \x1b[?25l").isShown).toBe(true);
    expect(after("\x1b[?1049h", "\x1b[?1049l").isShown).toBe(false);
    expect(after("\x1b[?47h\x1bc").isShown).toBe(false);
  });

  test("is noticed however the output is cut", () => {
    const output = "a\x1b[?1049hb";
    for (let at = 0; at <= output.length; at++)
      expect(after(output.slice(0, at), output.slice(at)).isShown).toBe(true);
    expect(after(..."x\x1b[?1049hy\x1b[?1049lz\n")).toMatchObject({ isShown: false, isAtLineStart: true });
  });
});
