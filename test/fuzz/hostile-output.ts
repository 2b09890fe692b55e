// Output that costs a terminal emulator far more than it costs the program that prints it.

const huge = 2_147_483_647;
const finals = Array.from({ length: 0x7f - 0x40 }, (_, at) => String.fromCharCode(0x40 + at));
const repeat = (count: number, piece: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => piece(at)).join("");

export const hostileOutput: Record<string, () => string> = {
  "a scroll by two thousand million lines": () => `before\x1b[${huge}Safter`,
  "all control sequences with huge parameters": () =>
    ["", "?", ">", "=", "<"]
      .flatMap((prefix) =>
        finals.flatMap((final) => [
          `x\x1b[${prefix}${huge}${final}`,
          `\x1b[${prefix}${huge};${huge}${final}`,
          `\x1b[${prefix}${huge} ${final}`,
          `\x1b[${prefix}${huge}$${final}`,
        ]),
      )
      .join(""),
  "a character that is repeated a thousand million times": () => "x\x1b[1070000000b".repeat(500),
  "a title without an end": () => `\x1b]2;${"t".repeat(6_000_000)}`,
  "a device control string without an end": () => `\x1bP${"d".repeat(6_000_000)}`,
  "an application command without an end": () => `\x1b_${"a".repeat(6_000_000)}`,
  "titles of a megabyte": () => `\x1b]2;${"t".repeat(1_000_000)}\x07`.repeat(5),
  "a sixel image": () => `\x1bPq#0;2;0;0;0${"#0!9999~-".repeat(100_000)}\x1b\\`,
  "kitty images": () => `\x1b_Gf=32,s=2000,v=2000,m=1;${"AAAA".repeat(1000)}\x1b\\`.repeat(300),
  "a million combining characters on one cell": () => `a${"\u0301".repeat(1_000_000)}`,
  "combining characters on every cell": () => repeat(20_000, () => `a${"\u0301".repeat(20)}`),
  "a colour with ten thousand parameters": () => `\x1b[${"38:2:1:2:3;".repeat(10_000)}m`.repeat(20),
  "cells of many colours": () => repeat(150_000, (at) => `\x1b[38;5;${at % 256}mx`),
  "underlines of many colours": () =>
    repeat(100_000, (at) => `\x1b[4:3;58:2::${at % 255}:${(at >> 8) % 255}:7mx`),
  "links without a line end": () => repeat(60_000, (at) => `\x1b]8;;http://a/${at}\x07l\x1b]8;;\x07`),
  "wide characters without a line end": () => "漢字".repeat(250_000),
  "line feeds": () => "\n".repeat(200_000),
  "tabs to the end of long lines": () => "\t".repeat(100_000),
  "scrolls of a region": () => `\x1b[2;10r${"\x1b[9999S\x1b[9999T\x1b[9999L\x1b[9999M".repeat(4_000)}`,
  "inserted cells": () => `\x1b[4h${"x\x1b[H\x1b[9999@".repeat(30_000)}`,
  "the alternate screen and back": () => "\x1b[?1049hx\x1b[?1049l".repeat(30_000),
  "saved cursors and resets": () => "\x1b7\x1b[!p\x1b8\x1bc".repeat(30_000),
  "questions without an end": () => "\x1b[6n\x1b[c\x1b[?1$p".repeat(60_000),
  "bytes of no encoding": () =>
    Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, at) => (at * 7919) % 256)).toString("latin1"),
};
