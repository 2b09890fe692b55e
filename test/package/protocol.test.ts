// `trl/protocol` as it is built.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { contractSchemas as ownSchemas } from "../../src/protocol/json-schema.ts";
import { methods as ownMethods } from "../../src/protocol/methods.ts";
import "../support/program.ts";
import { root } from "./packed.ts";

const built = join(root, "dist/package");
const protocol: typeof import("../../src/package/protocol.ts") = await import(join(built, "protocol.js"));
const { contractSchemas, methods, validateParams, TrlError } = protocol;

test("its schemas validate, and say what is wrong", () => {
  const right = { session_id: "s-00000000", command: "true", timeout_s: 1.5 };
  expect(validateParams("exec.run", right)).toEqual(right);
  const wrong: [Parameters<typeof validateParams>[0], unknown, string][] = [
    ["exec.run", { session_id: "s-00000000" }, "command"],
    ["exec.run", { ...right, timeout_s: -1 }, "timeout_s"],
    ["pty.create", { cols: "wide" }, "cols"],
    ["pty.wait", { session_id: "s-00000000", until: {} }, "until"],
    ["session.info", "nothing", "params"],
  ];
  for (const [method, params, field] of wrong) {
    const validate = () => validateParams(method, params);
    expect(validate).toThrow(TrlError);
    expect(validate).toThrow(field);
  }
});

test("it has every method of the table, and knows them by name", () => {
  expect(Object.keys(methods)).toEqual(Object.keys(ownMethods));
  expect(protocol.isMethodName("exec.run")).toBe(true);
  expect(protocol.isMethodName("toString")).toBe(false);
});

test("a frame is a line, and a line is a frame again", () => {
  const frame = protocol.encodeFrame({ id: 1, text: "ä\n" });
  const lines = [...new protocol.LineDecoder(1000).push(frame)];
  const texts = lines.map((line) =>
    line.kind === "line" ? new TextDecoder().decode(line.bytes) : line.kind,
  );
  expect(texts.map((text) => JSON.parse(text))).toEqual([{ id: 1, text: "ä\n" }]);
});

describe("JSON Schemas:", () => {
  const schemas = JSON.parse(JSON.stringify(contractSchemas()));

  test("the file is what the function gives, built or not", () => {
    const file = JSON.parse(readFileSync(join(built, "protocol.schema.json"), "utf8"));
    expect(file).toEqual(schemas);
    expect(file).toEqual(JSON.parse(JSON.stringify(ownSchemas())));
  });

  for (const [name, method] of Object.entries(ownMethods)) {
    test(`${name} has them for parameters, result and events`, () => {
      const schema = schemas.methods[name];
      expect(schema.params).toMatchObject({ type: "object" });
      expect(schema.result).toMatchObject({ type: "object" });
      const events = "events" in method ? Object.keys(method.events) : [];
      expect(Object.keys(schema.events ?? {})).toEqual(events);
      for (const event of events) expect(schema.events[event]).toMatchObject({ type: "object" });
    });
  }
});
