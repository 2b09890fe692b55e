import { describe, expect, test } from "bun:test";
import { errorReply, idInFront, okReply, parseMessage, requestOf } from "../../../src/protocol/envelope.ts";
import { TrlError } from "../../../src/protocol/errors.ts";

const parse = (line: string | Uint8Array) => requestOf(parseMessage(Buffer.from(line)));

/** The id as it stands in the reply's own text. */
function echoedId(idText: string, rest = ""): string {
  const { id } = parse(`{"id":${idText},"method":"m"${rest}}`);
  return JSON.stringify(okReply(id, 0)).replace(/^\{"id":(.*),"ok":true,"data":0\}$/, "$1");
}

function refusal(line: string | Uint8Array): TrlError {
  try {
    parse(line);
  } catch (error) {
    if (error instanceof TrlError) return error;
    throw error;
  }
  throw new Error("it was taken as a request");
}

describe("the id is echoed as it came:", () => {
  const ids = [
    '"1"',
    '""',
    '"\\ud800"',
    "0",
    "1",
    "-7",
    "9007199254740991",
    "9007199254740993",
    "123456789012345678901234567890",
    "-123456789012345678901234567890",
    "1.5",
    "0.1000000000000000055",
    "1e400",
  ];
  for (const id of ids) test(id, () => expect(echoedId(id)).toBe(id));

  test("and is not mistaken for an id deeper down", () => {
    expect(echoedId("12345678901234567890", ',"params":{"id":98765432109876543210}')).toBe(
      "12345678901234567890",
    );
  });

  test("the last one, if there are two", () => {
    expect(echoedId('1,"id":12345678901234567890')).toBe("12345678901234567890");
    expect(echoedId('12345678901234567890,"id":1')).toBe("1");
  });

  test("with a name that is written with escapes", () => {
    const { id } = parse('{"\\u0069d":12345678901234567890,"method":"m"}');
    expect(JSON.stringify(id)).toBe("12345678901234567890");
  });

  test("beside deep nesting", () => {
    const deep = `${"[".repeat(40_000)}${"]".repeat(40_000)}`;
    expect(echoedId("7", `,"params":${deep}`)).toBe("7");
  });

  test("also if a double holds its value, but writes it differently", () => {
    const ids = ["-0", "1.0", "1e2", "1E-400"];
    expect(ids.map((id) => echoedId(id))).toEqual(ids);
  });

  test("of every length, with and without a space before it", () => {
    const ids = [
      "0",
      "7",
      "10",
      "907",
      "123456789",
      "999999999999999",
      "1000000000000000",
      "9007199254740993",
    ];
    for (const id of ids) {
      expect(echoedId(id)).toBe(id);
      expect(JSON.stringify(parse(`{"id": ${id}, "method":"m"}`).id)).toBe(id);
      expect(JSON.stringify(parse(`{"id":${id}.0,"method":"m"}`).id)).toBe(`${id}.0`);
      expect(JSON.stringify(parse(`{"id":${id}e0,"method":"m"}`).id)).toBe(`${id}e0`);
      expect(JSON.stringify(parse(`{"method":"m","id":${id}}`).id)).toBe(id);
    }
  });

  test("beside deep nesting, when it has more digits than a double", () => {
    const deep = `${"[".repeat(40_000)}${"]".repeat(40_000)}`;
    expect(echoedId("12345678901234567890", `,"params":${deep}`)).toBe("12345678901234567890");
  });
});

test("params may be missing or null", () => {
  expect(parse('{"id":"1","method":"m"}').params).toBeUndefined();
  expect(parse('{"id":"1","method":"m","params":null}').params).toBeNull();
});

test("a request must be an object", () => {
  for (const line of ["[]", '[{"id":"1","method":"m"}]', "null", "1", '"text"', "true"]) {
    expect(refusal(line)).toMatchObject({ code: "INVALID_PARAMS", message: "a request is a JSON object" });
  }
});

test("a request must be JSON", () => {
  for (const line of ["{", "{}}", "hello", '{"id":"1",}', "{'id':1}", '{"id":NaN,"method":"m"}']) {
    expect(refusal(line)).toMatchObject({ code: "INVALID_PARAMS", message: "the line is not valid JSON" });
  }
});

test("invalid UTF-8 is refused, not repaired", () => {
  const broken = [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]];
  for (const bytes of broken) {
    const line = Buffer.concat([Buffer.from('{"id":"'), Buffer.from(bytes), Buffer.from('","method":"m"}')]);
    expect(refusal(line)).toMatchObject({ code: "INVALID_PARAMS", message: "the line is not valid UTF-8" });
  }
});

test("an id of more than 64 KiB is refused, and none of it repeated", () => {
  const max = 64 * 1024;
  for (const id of [`"${"x".repeat(max)}"`, `"${"é".repeat(max / 2)}"`, "9".repeat(256)])
    expect(echoedId(id)).toBe(id);
  for (const id of [`"${"x".repeat(max + 1)}"`, `"${"é".repeat(max / 2 + 1)}"`])
    expect(refusal(`{"id":${id},"method":"m"}`)).toMatchObject({
      code: "INVALID_PARAMS",
      message: `id: longer than ${max} bytes; choose a shorter one`,
    });
});

test("an id or a method of the wrong type is named", () => {
  for (const id of ["null", "true", "[]", "{}"]) {
    expect(refusal(`{"id":${id},"method":"m"}`).message).toStartWith("id: expected");
  }
  for (const method of ["null", "1", "[]"]) {
    expect(refusal(`{"id":1,"method":${method}}`).message).toStartWith("method: expected");
  }
  expect(refusal("{}").message).toStartWith("id: expected");
});

test("`__proto__` is a key like any other", () => {
  expect(refusal('{"__proto__":{"id":"1","method":"m"}}').message).toStartWith("id: expected");
});

test("a reply's keys stand in the order of the contract", () => {
  expect(JSON.stringify(okReply("1", { a: 1 }))).toBe('{"id":"1","ok":true,"data":{"a":1}}');
  const error = new TrlError("SESSION_BUSY", "busy");
  expect(JSON.stringify(errorReply("1", error))).toBe(
    '{"id":"1","ok":false,"error":{"code":"SESSION_BUSY","message":"busy"}}',
  );
  const withData = new TrlError("COMMAND_FAILED", "failed", { exit_code: 1 });
  expect(JSON.stringify(errorReply(2, withData))).toBe(
    '{"id":2,"ok":false,"error":{"code":"COMMAND_FAILED","message":"failed","data":{"exit_code":1}}}',
  );
});

test.each([
  ['{"id":"a-1","method":"m","params":[', "a-1"],
  [' { "id" : 17 , "method":"m"', 17],
  ['{"id":"\\"é","method":', '"é'],
  ['{"method":"m","id":"late"', "unknown"],
  ['{"id":{"id":1},', "unknown"],
  ['{"id":12345678901234567890,', "unknown"],
  ["[[[", "unknown"],
  [`{"id":"${"x".repeat(300)}",`, "unknown"],
])("the id of a line that is not parsed: %s", (front, id) => {
  expect(idInFront(Buffer.from(front + "[".repeat(1000)))).toBe(id);
});
