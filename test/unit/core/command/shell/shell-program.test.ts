// How shell programs become the text that a shell reads, and that no placeholder of theirs reaches a shell.
import { describe, expect, test } from "bun:test";
import { bash } from "../../../../../src/core/command/shell/bash/bash.ts";
import type { CommandFeed } from "../../../../../src/core/command/shell/dialect.ts";
import { posix } from "../../../../../src/core/command/shell/posix/posix.ts";
import { shellProgram } from "../../../../../src/core/command/shell/shell-program.ts";
import { zsh } from "../../../../../src/core/command/shell/zsh/zsh.ts";
import { feedOf } from "./feed.ts";

test("comments, blank lines and indentation are dropped, and nothing else", () => {
  const text = "# shellcheck shell=sh\n\nif x; then # stays\n  # a comment\n\n\techo \"$#\" 'a\nb'\nfi\n";
  expect(shellProgram(text)()).toBe("if x; then # stays\necho \"$#\" 'a\nb'\nfi\n");
});

test("values are inserted as they are, wherever their placeholder occurs", () => {
  const program = shellProgram('cat @A@ >@B_C@ "$@" @(a|b) "${x[@]}" @A@\n');
  expect(program({ A: "'$& $1 @B_C@'", B_C: "x" })).toBe(
    "cat '$& $1 @B_C@' >x \"$@\" @(a|b) \"${x[@]}\" '$& $1 @B_C@'\n",
  );
});

test("a placeholder on a line of its own stands for whole lines", () => {
  const program = shellProgram("a\n  @LINES@\nb @WORD@\n@WORD@ c\n");
  expect(program({ LINES: "x\ny\n", WORD: "w" })).toBe("a\nx\ny\nb w\nw c\n");
  expect(program({ LINES: "", WORD: "w" })).toBe("a\nb w\nw c\n");
});

test("a placeholder without a value is an error", () => {
  expect(() => shellProgram("cat @A@ @B@\n")({ A: "x" })).toThrow("@B@");
});

describe("no placeholder and no comment is left in what a shell reads:", () => {
  const dir = "/tmp/trl";
  /** The prologues of these contain all programs: they list functions, set an EXIT trap, or alias braces. */
  const commands = ["echo", "declare -f", "trap 'echo bye' EXIT", "alias {=x; trap 'echo bye' EXIT"];
  const feeds: CommandFeed[] = commands.flatMap((command) => [
    feedOf(command),
    feedOf(command, { place: "gone", workingDir: "/tmp/a/b", existingParent: "/tmp" }),
  ]);
  test.each(Object.entries({ bash, zsh, posix }))("%s", (_, dialect) => {
    const texts = [
      dialect.bootScript(dir, { runsInPlace: true }),
      dialect.bootScript(dir, { isLean: true }),
      ...feeds.map((feed) => dialect.commandScript(feed, dir).prologue),
    ];
    for (const text of texts) {
      expect(text).not.toBe("");
      expect(text).not.toMatch(/@[A-Z_]+@|^\s*#|^[ \t]|^\n/m);
    }
  });
});
