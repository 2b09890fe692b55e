import { expect, test } from "bun:test";
import { nearest } from "../../../src/util/nearest.ts";

const known = ["session_id", "command", "timeout_s", "env", "max-sessions"];

test("a typing error is recognised", () => {
  expect(nearest("comand", known)).toBe("command");
  expect(nearest("commandd", known)).toBe("command");
  expect(nearest("cmomand", known)).toBe("command");
  expect(nearest("timeout", known)).toBe("timeout_s");
});

test("case, hyphens and underscores do not count", () => {
  expect(nearest("sessionId", known)).toBe("session_id");
  expect(nearest("SESSION-ID", known)).toBe("session_id");
  expect(nearest("max_sessions", known)).toBe("max-sessions");
});

test("the nearest wins, and of equals the first", () => {
  expect(nearest("cat", ["carts", "cart"])).toBe("cart");
  expect(nearest("xat", ["bat", "cat"])).toBe("bat");
});

test("a word without similarity is no suggestion, least of all for a short name", () => {
  for (const word of ["", "working_dir", "xyz", "e", "ls"]) expect(nearest(word, known)).toBeUndefined();
  expect(nearest("sessionabcd", known)).toBeUndefined();
  expect(nearest("command", [])).toBeUndefined();
});

test("a very long word has no suggestion", () => {
  expect(nearest(`command${"_".repeat(1_000_000)}`, known)).toBeUndefined();
});
