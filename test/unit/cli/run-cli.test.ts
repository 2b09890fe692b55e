// Words of the command line: formatted numbers, keys, and lookup by name.
import { describe, expect, test } from "bun:test";
import type { ArgsDef } from "citty";
import { checkFlags, type FlagRules } from "../../../src/cli/check-flags.ts";
import { wordsFrom } from "../../../src/cli/commands/send.ts";
import { type Handle, pick } from "../../../src/cli/sessions.ts";
import { bytes, duration } from "../../../src/cli/ui/format.ts";
import { keySequence } from "../../../src/cli/ui/keys.ts";

test("durations have two units at most", () => {
  const shown = [
    0, 999, 59_999, 60_000, 72_000, 3_599_000, 3_600_000, 11_040_000, 86_399_000, 183_600_000, -5,
  ];
  expect(shown.map(duration)).toEqual([
    "0s",
    "0s",
    "59s",
    "1m00s",
    "1m12s",
    "59m59s",
    "1h00m",
    "3h04m",
    "23h59m",
    "2d03h",
    "0s",
  ]);
});

test("bytes have three digits at most", () => {
  const shown = [0, 999, 1000, 1234, 9949, 9950, 999_499, 999_500, 34_000_000, 5e12, 5e16];
  expect(shown.map(bytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "1.2 kB",
    "9.9 kB",
    "10 kB",
    "999 kB",
    "1.0 MB",
    "34 MB",
    "5.0 TB",
    "50000 TB",
  ]);
});

describe("keys", () => {
  const key = (name: string, isApplication = false) => keySequence(name, { isApplication });

  test.each([
    ["Enter", "\r"],
    ["escape", "\x1b"],
    ["Esc", "\x1b"],
    ["Space", " "],
    ["BSpace", "\x7f"],
    ["C-c", "\x03"],
    ["ctrl-C", "\x03"],
    ["C-[", "\x1b"],
    ["C-\\", "\x1c"],
    ["C-Space", "\0"],
    ["C-?", "\x7f"],
    ["M-x", "\x1bx"],
    ["alt-X", "\x1bX"],
    ["M-C-a", "\x1b\x01"],
    ["M-Enter", "\x1b\r"],
    ["M--", "\x1b-"],
    ["BTab", "\x1b[Z"],
    ["S-Tab", "\x1b[Z"],
    ["Up", "\x1b[A"],
    ["C-Up", "\x1b[1;5A"],
    ["S-M-End", "\x1b[1;4F"],
    ["PageDown", "\x1b[6~"],
    ["PgUp", "\x1b[5~"],
    ["C-Delete", "\x1b[3;5~"],
    ["F1", "\x1bOP"],
    ["S-F1", "\x1b[1;2P"],
    ["F12", "\x1b[24~"],
    ["y", "y"],
    ["é", "é"],
  ])("%s", (name, sequence) => expect(key(name)).toBe(sequence));

  test("of the cursor depend on what the program has asked for", () => {
    expect(key("Up", true)).toBe("\x1bOA");
    expect(key("Home", true)).toBe("\x1bOH");
    expect(key("C-Up", true)).toBe("\x1b[1;5A");
    expect(key("PageUp", true)).toBe("\x1b[5~");
  });

  test.each(["", "Entre", "C-1", "C-é", "hello", "toString", "C-", "X-a"])("%p is none", (name) =>
    expect(() => key(name)).toThrow("there is no key"),
  );
});

describe("the words of send", () => {
  const args = {
    "socket-path": { type: "string", alias: "socket" },
    enter: { type: "boolean", alias: "e" },
    key: { type: "string", alias: "k" },
  } as const;
  const words = (line: string) => wordsFrom(line.split(" "), args);

  test("keep their order, texts side by side are one", () => {
    expect(words("--socket /s vim -k Escape :w q --key=Enter - x")).toEqual({
      name: "vim",
      pieces: [{ key: "Escape" }, { text: ":w q" }, { key: "Enter" }, { stdin: true }, { text: "x" }],
    });
  });

  test("behind -- are text", () => {
    expect(words("work -e a -- --key -")).toEqual({ name: "work", pieces: [{ text: "a --key -" }] });
    expect(words("-- work -5")).toEqual({ name: "work", pieces: [{ text: "-5" }] });
  });
});

describe("lookup by name", () => {
  const thing = (id: string, name: string | null = null, isLive = true): Handle => ({
    id,
    name,
    isLive,
    about: "thing",
  });
  const things = [
    thing("s-9f310000", "old"),
    thing("s-9f320000", "s-ab120000"),
    thing("s-ab120000", "twice"),
    thing("s-ab340000", "twice"),
    thing("s-cd560000", "twice", false),
    thing("x-cd780000"),
    thing("abcd", "abcd"),
    thing("s-77000000", "gone", false),
    thing("s-77110000", "gone", false),
  ];
  const find = (word: string) => pick(things, word, (it) => it)?.id;

  test.each([
    ["s-9f310000", "s-9f310000"],
    ["s-ab120000", "s-ab120000"], // an id wins over a name
    ["twice", "s-ab340000"], // the newest that lives
    ["gone", "s-77110000"], // else the newest
    ["s-9f31", "s-9f310000"],
    ["9f32", "s-9f320000"],
    ["cd", "x-cd780000"], // what lives goes before what has ended
    ["x-cd", "x-cd780000"],
    ["s-cd", "s-cd560000"],
    ["9", undefined], // too little
    ["s-", undefined],
    ["abc", undefined], // a chosen id is a name
    ["unknown", undefined],
  ])("%s", (word, id) => expect(find(word)).toBe(id!));

  test("an ambiguous prefix lists the matches", () => {
    expect(() => find("9f3")).toThrow("9f3 may be one of 2");
    try {
      find("ab");
    } catch (error) {
      expect(error).toMatchObject({ exitCode: 64, hint: "s-ab120000 (thing)\n     s-ab340000 (thing)" });
    }
  });
});

describe("flags", () => {
  const args = {
    name: { type: "string", alias: "n" },
    json: { type: "boolean" },
  } as const satisfies ArgsDef;
  const check = (line: string, rules?: FlagRules) => () => checkFlags(line.split(" "), args, rules);

  test.each([
    "--name x --json",
    "--name=x",
    "-n -5",
    "--name -x",
    "--name=--json",
    "--no-json",
    "a -- --nope",
  ])("%s is accepted", (line) => expect(check(line)).not.toThrow());

  test.each([
    ["--name", "--name needs a value"],
    ["--name -- x", "--name needs a value"],
    ["--name --json", "--name needs a value"],
    ["--name= x", "--name needs a value"],
    ["-n", "-n needs a value"],
    ["--nmae x", "unknown flag --nmae"],
    ["--no-name", "unknown flag --no-name"],
    ["-9 x", "unknown flag -9"],
  ])("%s is refused", (line, message) => expect(check(line)).toThrow(message));

  test("a number is text where text is taken", () => {
    expect(check("x -9", { takesNumbers: true })).not.toThrow();
  });
});
