// Lines that would block the event loop are refused before they are parsed.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseMessage } from "../../../src/protocol/envelope.ts";
import {
  jsonDigitsMax,
  jsonEscapesMax,
  jsonPartsMax,
  refuseCostly,
} from "../../../src/protocol/json-cost.ts";

const encoder = new TextEncoder();
const lineBytes = 16 * 1024 * 1024 - 100;

const refusal = (text: string): string | undefined => {
  try {
    refuseCostly(encoder.encode(text));
    return undefined;
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
};

describe("refused", () => {
  test.each([
    ["brackets", "[".repeat(lineBytes)],
    ["brackets that are closed", `{"a":${"[".repeat(60_000)}${"]".repeat(60_000)}}`],
    ["objects in objects", `{"a":${'{"":'.repeat(60_000)}0${"}".repeat(60_000)}}`],
    ["numbers", `{"a":[${"1,".repeat(60_000)}0]}`],
    ["strings", `{"a":[${'"a",'.repeat(60_000)}0]}`],
    ["names", `{${Array.from({ length: 30_000 }, (_, i) => `"${i}":0`).join(",")}}`],
    ["brackets behind a string with quotes in it", `{"a":"\\"\\\\","b":${"[".repeat(60_000)}`],
  ])("%s", (_, text) => {
    expect(refusal(text)).toContain(`REQUEST_TOO_LARGE: the line has more than ${jsonPartsMax} fields`);
  });

  test("escapes", () => {
    expect(refusal(`{"a":"${"\\n".repeat(jsonEscapesMax + 1)}"}`)).toContain("base64");
    expect(refusal(`{"a":"${"\\n".repeat(jsonEscapesMax)}"}`)).toBeUndefined();
  });

  test.each([
    ["as the id", (digits: string) => `{"id":${digits},"method":"m"}`],
    ["in a list", (digits: string) => `{"a":[1,-0.${digits}e5]}`],
    ["at the end", (digits: string) => digits],
  ])("numbers of many digits, %s", (_, lineWith) => {
    const refused = `REQUEST_TOO_LARGE: a number of the line has more than ${jsonDigitsMax} digits`;
    expect(refusal(lineWith("9".repeat(12_000_000)))).toContain(refused);
    const filler = " ".repeat(jsonPartsMax);
    expect(refusal(filler + lineWith("9".repeat(jsonDigitsMax + 1)))).toContain(refused);
    expect(refusal(filler + lineWith("9".repeat(jsonDigitsMax)))).toBeUndefined();
  });

  test("by parseMessage, which every transport uses", () => {
    expect(() => parseMessage(encoder.encode("[".repeat(lineBytes)))).toThrow("fields and list entries");
  });
});

describe("accepted", () => {
  test.each([
    ["one long string", "x".repeat(lineBytes)],
    ["text", `${"x".repeat(70)}\n`.repeat(200_000)],
    ["text full of what would count outside", '[{,:"'.repeat(300_000)],
    ["digits in a string", "9".repeat(1_000_000)],
    ["backslashes", "\\".repeat(1_000_001)],
    ["Chinese", "漢".repeat(4_000_000)],
    [
      "a quote at each offset of a word",
      Array.from({ length: 2000 }, (_, i) => `${"x".repeat(i)}"`).join(""),
    ],
  ])("%s", (_, stdin) => {
    const text = JSON.stringify({ id: 1, method: "exec.run", params: { stdin, after: [1, 2, 3] } });
    expect(refusal(text)).toBeUndefined();
  });

  test("the maximum of parts, wherever strings begin and end", () => {
    const word = fc.string({ maxLength: 2000, unit: fc.constantFrom('"', "\\", "x", ",", "[", "é", "\n") });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 50 }), (words) => {
        // Two for the brackets, one between any two of them, and those of the filler.
        const filler = "0,".repeat(jsonPartsMax - words.length - 1);
        const list = words.map((it) => JSON.stringify(it)).join(",");
        expect(refusal(`[[${filler}${list}]]`)).toBeUndefined();
        expect(refusal(`[[${filler}0,${list}]]`)).toContain("fields and list entries");
      }),
      { numRuns: 40 },
    );
  });
});
