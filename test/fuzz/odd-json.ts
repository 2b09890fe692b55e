// JSON as nobody writes it, as text: a name may come twice, a number may be any number, and `__proto__` is a name.
import fc from "fast-check";
import { frontendMessages } from "../../src/protocol/frontend.ts";
import { methods } from "../../src/protocol/methods.ts";
import { pollution } from "./unharmed.ts";

const oddNames = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "",
  "id",
  "method",
  "\0",
];
const oddNumbers = [
  ..."0 -0 1 -1 1.5 1e999 -1e999 5e-324 1.50 12345678901234567890 -9007199254740993 1E+2 01 +1 .5 NaN".split(
    " ",
  ),
  "9".repeat(400),
];
const oddTexts = [
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\\u2028"',
  '"é😀"',
  '"a\\nb"',
  '"\\x"',
  '"\u0001"',
  '"tab\there"',
  '"unclosed',
];

const polluting = fc.constantFrom(
  `{"__proto__":${JSON.stringify(pollution)}}`,
  `{"constructor":{"prototype":${JSON.stringify(pollution)}}}`,
  `{"prototype":${JSON.stringify(pollution)}}`,
);

/** Never a word that could be run: what may be run is chosen elsewhere. */
const leaf = fc.oneof(
  fc.constantFrom(...oddNumbers, ...oddTexts, "null", "true", "false", "[]", "{}", "nul", ""),
  fc.string().map((text) => JSON.stringify(text)),
  polluting,
);

const nested = fc
  .tuple(fc.constantFrom("[", '{"a":', '{"__proto__":'), fc.constantFrom(1, 50, 2000))
  .map(([open, depth]) => `${open.repeat(depth)}1${(open === "[" ? "]" : "}").repeat(depth)}`);

const name = fc.oneof(fc.constantFrom(...oddNames), fc.string()).map((text) => JSON.stringify(text));

export const oddValue: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    nested,
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    fc
      .array(fc.tuple(name, tie("value")), { maxLength: 5 })
      .map((members) => `{${members.map(([key, value]) => `${key}:${value}`).join(",")}}`),
  ),
})).value;

const fieldNames = [
  ...Object.values(methods).flatMap(({ params }) => Object.keys(params.entries)),
  ...Object.values(frontendMessages).flatMap(({ entries }) => Object.keys(entries)),
];
/** What they hold would be run, or opened. */
const harmful = [
  "command",
  "args",
  "shell",
  "init",
  "path",
  "identity_file",
  "executable",
  "url",
  "host",
  "target",
];
const field = fc.constantFrom(...new Set(fieldNames.filter((each) => !harmful.includes(each))));

const params = fc
  .array(
    fc.tuple(
      fc.oneof(
        field.map((text) => JSON.stringify(text)),
        name,
      ),
      oddValue,
    ),
    { maxLength: 5 },
  )
  .map((members) => `{${members.map(([key, value]) => `${key}:${value}`).join(",")}}`);

/** Nothing is started by these, whatever their params are. */
const quiet = Object.keys(methods).filter(
  (method) => !/^(?:pty\.create|session\.create|runtime\.|system\.describe)/.test(method),
);
const id = fc.oneof(fc.constantFrom('"r"', '"\\ud800"', "7", "12345678901234567890", "-0"), oddValue);

/** A request, or something that looks like one. */
export const oddRequest: fc.Arbitrary<string> = fc
  .tuple(
    id,
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...quiet).map((text) => `"${text}"`) }, oddValue),
    fc.oneof({ weight: 4, arbitrary: params }, oddValue),
    fc.option(fc.tuple(name, oddValue)),
  )
  .map(([own, method, given, more]) => {
    const stray = more ? `,${more[0]}:${more[1]}` : "";
    return `{"id":${own},"method":${method},"params":${given}${stray}}`;
  });

/** Anything that may stand on a line. */
export const oddLine: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 5, arbitrary: oddRequest.map((text) => Buffer.from(text)) },
  oddValue.map((text) => Buffer.from(text)),
  oddRequest.map((text) => Buffer.from(`\ufeff${text}`)),
  fc.tuple(oddRequest, fc.nat(200)).map(([text, end]) => Buffer.from(text).subarray(0, end)),
  fc.uint8Array({ maxLength: 60 }),
);

/** Lines that are whole, merged, blank, ended in either way, and the last one perhaps not at all. */
export const oddLines: fc.Arbitrary<Uint8Array> = fc
  .array(fc.tuple(oddLine, fc.constantFrom("\n", "\n", "\r\n", "\n\n", "\r\n \t\n", "")), {
    minLength: 1,
    maxLength: 8,
  })
  .map((lines) => Buffer.concat(lines.flatMap(([line, end]) => [line, Buffer.from(end)])));
