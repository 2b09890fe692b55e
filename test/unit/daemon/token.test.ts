import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { OptionError } from "../../../src/daemon/option-error.ts";
import { obtainToken, tokenCheck } from "../../../src/daemon/token.ts";
import { tokenPath } from "../../../src/util/token-file.ts";
import { tempDir } from "../../support/temp-dir.ts";

test("the file lies beside the socket, whatever that is called", () => {
  expect(tokenPath("/run/x/trl.sock")).toBe("/run/x/trl.token");
  expect(tokenPath("/run/x/socket")).toBe("/run/x/socket.token");
  expect(tokenPath("/run/a.sock.d/b.sock")).toBe("/run/a.sock.d/b.token");
});

test("the environment's token wins, and touches no file", () => {
  using dir = tempDir();
  expect(obtainToken(join(dir.path, "trl.sock"), "given")).toBe("given");
  expect(readdirSync(dir.path)).toEqual([]);
});

test("a token is made once", () => {
  using dir = tempDir();
  const first = obtainToken(join(dir.path, "trl.sock"), "");
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(obtainToken(join(dir.path, "trl.sock"), undefined)).toBe(first);
  expect(readdirSync(dir.path)).toEqual(["trl.token"]);
  expect(readFileSync(join(dir.path, "trl.token"), "utf8")).toBe(`${first}\n`);
  expect(statSync(join(dir.path, "trl.token")).mode & 0o777).toBe(0o600);
});

test("no two are alike", () => {
  using dir = tempDir();
  const tokens = Array.from({ length: 50 }, (_, i) => obtainToken(join(dir.path, `${i}.sock`), undefined));
  expect(new Set(tokens).size).toBe(50);
});

test("where no file can be made, it is said", () => {
  using dir = tempDir();
  expect(() => obtainToken(join(dir.path, "nowhere", "trl.sock"), undefined)).toThrow(OptionError);
});

test("only the word itself is right", () => {
  const isToken = tokenCheck("a word");
  expect(isToken("a word")).toBeTrue();
  for (const wrong of ["", "a wor", "a word ", "A word", "a word\0", "\ud800", "x".repeat(100_000)])
    expect(isToken(wrong)).toBeFalse();
});

test("a wrong word takes as long as any other, whatever it begins with", () => {
  const token = "0123456789abcdef".repeat(4);
  const isToken = tokenCheck(token);
  const nearly = `${token.slice(0, -1)}x`;
  const wholly = `x${token.slice(1)}`;
  const batch = (word: string) => {
    const began = Bun.nanoseconds();
    for (let count = 0; count < 200; count++) isToken(word);
    return Bun.nanoseconds() - began;
  };
  const fastest = { nearly: Number.POSITIVE_INFINITY, wholly: Number.POSITIVE_INFINITY };
  // The quickest of many: what else the machine does makes some slower, and none quicker.
  for (let round = 0; round < 200; round++) {
    fastest.nearly = Math.min(fastest.nearly, batch(nearly));
    fastest.wholly = Math.min(fastest.wholly, batch(wholly));
  }
  expect(fastest.nearly / fastest.wholly).toBeWithin(0.7, 1.4);
});
