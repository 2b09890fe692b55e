import { describe, expect, test } from "bun:test";
import type { Terminal } from "../../../src/core/terminal/terminal.ts";
import type { ConnectionState } from "../../../src/server/request-context.ts";
import { isQueryReply, QueryReplies } from "../../../src/server/terminal-replies.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("an emulator's reply is distinguished from typed input:", () => {
  const replies = {
    "device attributes": "\x1b[?1;2c",
    "secondary attributes": "\x1b[>0;276;0c",
    "tertiary attributes": "\x1bP!|00000000\x1b\\",
    status: "\x1b[0n",
    cursor: "\x1b[24;80R",
    "cursor with page": "\x1b[?24;80R",
    "a mode": "\x1b[?2026;2$y",
    "a setting": "\x1bP1$r0m\x1b\\",
    "a colour, ended by ST": "\x1b]11;rgb:1111/1414/1a1a\x1b\\",
    "a colour, ended by BEL": "\x1b]4;1;rgb:cdcd/0000/0000\x07",
    "the window's size": "\x1b[8;24;80t",
    "keyboard flags": "\x1b[?0u",
    version: "\x1bP>|xterm.js(6.0.0)\x1b\\",
    several: "\x1b[?1;2c\x1b]10;rgb:ffff/ffff/ffff\x07\x1b[1;1R",
  };
  for (const [what, text] of Object.entries(replies)) {
    test(what, () => expect(isQueryReply(bytes(text))).toBe(true));
  }

  const typed = {
    "a letter": "c",
    escape: "\x1b",
    "alt and a letter": "\x1bP",
    "an arrow": "\x1b[A",
    "an arrow with control": "\x1b[1;5C",
    "a function key": "\x1b[15~",
    "shift and F3": "\x1b[1;2R",
    "all modifiers and F3": "\x1b[1;16R",
    "a key by its code": "\x1b[97;5u",
    "a click": "\x1b[<0;10;4M",
    "the focus": "\x1b[I",
    "pasted text": "\x1b[200~\x1b[?1;2c\x1b[201~",
    "a reply with a key behind it": "\x1b[?1;2cq",
    nothing: "",
  };
  for (const [what, text] of Object.entries(typed)) {
    test(what, () => expect(isQueryReply(bytes(text))).toBe(false));
  }
});

test("of several displays the one that typed last replies, before that the first to reply", () => {
  const terminal = { id: "s-1" } as Terminal;
  const connection = (isDisplay: boolean) =>
    new Map([["s-1", { isDisplay }]]) as unknown as ConnectionState["subscriptions"];
  const [first, second, recorder] = [connection(true), connection(true), connection(false)];
  const replies = new QueryReplies();
  expect([first, second].map((one) => replies.mayReply(terminal, one))).toEqual([true, false]);
  replies.noteTyping(terminal, second);
  replies.noteTyping(terminal, recorder);
  expect([first, second].map((one) => replies.mayReply(terminal, one))).toEqual([false, true]);
  second.clear();
  expect(replies.mayReply(terminal, first)).toBeTrue();
});
