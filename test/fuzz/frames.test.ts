// From bytes to a checked request, without a daemon around it: whatever comes, the same lines are read however they are
// cut, only known errors are thrown, and nobody's prototype is touched.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { isFrontendMessage, parseMessage, requestOf } from "../../src/protocol/envelope.ts";
import { TrlError } from "../../src/protocol/errors.ts";
import { LineDecoder } from "../../src/protocol/frame.ts";
import { frontendMessages, frontendTag } from "../../src/protocol/frontend.ts";
import { isMethodName, methods } from "../../src/protocol/methods.ts";
import { validateObject, validateParams } from "../../src/protocol/validate.ts";
import { fuzzTimeoutMs, settings } from "./fuzz.ts";
import { oddLine, oddLines, oddValue } from "./odd-json.ts";

const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype];
const shapeOf = () => prototypes.map((prototype) => Reflect.ownKeys(prototype));
const shape = shapeOf();

test(
  "the same lines, however the bytes are cut",
  () => {
    const property = fc.property(
      oddLines,
      fc.array(fc.nat(400), { maxLength: 12 }),
      fc.constantFrom(1, 20, 1000, 1_000_000),
      (input, cuts, maxBytes) => {
        const whole = read(new LineDecoder(maxBytes), [input]);
        const edges = [0, ...cuts.map((cut) => Math.min(cut, input.length)), input.length].sort(
          (a, b) => a - b,
        );
        const pieces = edges.slice(1).map((edge, i) => input.subarray(edges[i], edge));
        expect(read(new LineDecoder(maxBytes), pieces)).toEqual(whole);
        for (const line of whole) if (line !== "too long") expect(line.length).toBeLessThanOrEqual(maxBytes);
      },
    );
    fc.assert(property, settings);
  },
  fuzzTimeoutMs,
);

function read(decoder: LineDecoder, pieces: Uint8Array[]): string[] {
  const lines: string[] = [];
  const take = (line: ReturnType<LineDecoder["only"]>) =>
    lines.push(line?.kind === "line" ? Buffer.from(line.bytes).toString("latin1") : "too long");
  for (const piece of pieces) for (const line of decoder.push(piece)) take(line);
  for (const line of decoder.end()) take(line);
  return lines;
}

test(
  "only known errors, and nothing that is everybody's is touched",
  () => {
    const property = fc.property(oddLine, (line) => {
      orRefused(() => {
        const message = parseMessage(line);
        if (isFrontendMessage(message)) return checkFrontend(message.fields);
        const { id, method, params } = requestOf(message);
        expect(JSON.parse(JSON.stringify({ id }))).toHaveProperty("id");
        for (const each of isMethodName(method) ? [method] : (["exec.run", "pty.create"] as const))
          orRefused(() => expectPlain(validateParams(each, params)));
      });
      expect(shapeOf()).toEqual(shape);
    });
    fc.assert(property, settings);
  },
  fuzzTimeoutMs,
);

test(
  "as params of every method and message",
  () => {
    const everything = [
      ...Object.values(methods).map(({ params }) => params),
      ...Object.values(frontendMessages),
    ];
    const property = fc.property(fc.constantFrom(...everything), oddValue, (schema, text) => {
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        return;
      }
      orRefused(() => expectPlain(validateObject(schema, value) as object));
      expect(shapeOf()).toEqual(shape);
    });
    fc.assert(property, settings);
  },
  fuzzTimeoutMs,
);

function checkFrontend(fields: Record<string, unknown>): void {
  const tag = frontendTag(String(fields["type"]));
  if (tag) expectPlain(validateObject(frontendMessages[tag], fields) as object);
}

/** What was given as `__proto__` has not become the prototype of what is used. */
const expectPlain = (checked: object) => expect(Object.getPrototypeOf(checked)).toBe(Object.prototype);

function orRefused(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof TrlError)) throw error;
    expect(error.code).not.toBe("INTERNAL_ERROR");
  }
}
