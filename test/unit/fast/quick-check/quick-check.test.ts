import { expect, test } from "bun:test";
import fc from "fast-check";
import * as v from "valibot";
import { QuickValidator } from "../../../../src/fast/quick-check/quick-check.ts";
import { type MethodName, methods } from "../../../../src/protocol/methods.ts";

const quick = new QuickValidator();
const value = fc.oneof(
  fc.string(),
  fc.constantFrom("utf8", "base64", "text", "ansi", "screen", "none", "all", "safe", "a\0b", ""),
  fc.boolean(),
  fc.integer(),
  fc.constantFrom(null, undefined, 1.5, -1, [], {}, ["x"]),
);

test("what is taken at a glance is what the validator takes, as it is", () => {
  let taken = 0;
  for (const name of Object.keys(methods) as MethodName[]) {
    const schema = methods[name].params as unknown as v.GenericSchema & {
      entries: Record<string, v.GenericSchema>;
    };
    const fields = Object.keys(schema.entries);
    const given = fc.dictionary(fc.constantFrom(...fields, "unknown", "constructor"), value, { maxKeys: 4 });
    fc.assert(
      fc.property(given, (params) => {
        if (!quick.isPlainlyValid(schema.entries, params)) return;
        taken++;
        expect(v.safeParse(schema, params)).toMatchObject({ success: true, output: params });
      }),
      { numRuns: 150 },
    );
  }
  expect(taken).toBeGreaterThan(20);
});
