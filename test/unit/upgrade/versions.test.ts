// The state document grows by the rule of src/upgrade/schema/versions.ts, and stays readable for older programs.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { parseDocument } from "../../../src/upgrade/restore/read-state-file.ts";
import { StateDocument } from "../../../src/upgrade/schema/document.ts";
import {
  additions,
  additionsBeyond,
  describeBeyond,
  lowestVersionFor,
  ownSchemaVersion,
  requireReadable,
  type SchemaAddition,
} from "../../../src/upgrade/schema/versions.ts";
import { brokenRules, shapeOf } from "../../support/schema-shape.ts";

const fixtures = join(import.meta.dir, "../../fixtures/upgrade");
const fixture = (version: number, name: string) => readFileSync(join(fixtures, `v${version}`, name), "utf8");
const recorded = (name: "idle" | "busy") => JSON.parse(fixture(1, `${name}.json`));
const recordedVersions = readdirSync(fixtures)
  .map((name) => Number(/^v(\d+)$/.exec(name)?.[1]))
  .filter((version) => version > 0);

/** What a later trl might add: a field with a default, and a value of a field that version 1 has. */
const later: SchemaAddition[] = [
  {
    version: 2,
    path: "core.sessions[].timeZone",
    feature: "a session with a time zone",
    isUsed: (zone) => zone !== "UTC",
  },
  {
    version: 3,
    path: "core.terminals[].driver",
    feature: "a terminal of the driver conpty",
    isUsed: (driver) => driver === "conpty",
  },
];

const withZone = (timeZone: string | undefined) => {
  const document = recorded("idle");
  document.core.sessions[0].timeZone = timeZone;
  return document;
};

describe("the schema", () => {
  test.each(recordedVersions)("differs from version %d by registered additions alone", (known) => {
    const before = fixture(known, "shape.txt").trimEnd().split("\n");
    const registered = additions.filter(({ version }) => version > known).map(({ path }) => path);
    expect(brokenRules(before, shapeOf(StateDocument), registered)).toEqual([]);
  });

  test("numbers its additions from 2 on, without a gap", () => {
    const versions = [...new Set(additions.map(({ version }) => version))];
    expect(versions).toEqual(versions.map((_, at) => at + 2));
  });

  const base = { name: v.string(), kind: v.picklist(["a", "b"]) };
  const shape = (entries: v.ObjectEntries) => shapeOf(v.object(entries));
  test.each<[string, v.ObjectEntries, string[], string[]]>([
    ["an optional field", { ...base, zone: v.optional(v.string(), "UTC") }, ["zone"], []],
    ["an optional object", { ...base, zone: v.optional(v.object({ id: v.string() })) }, ["zone"], []],
    ["a value", { ...base, kind: v.picklist(["a", "b", "c"]) }, ["kind"], []],
    ["an unregistered field", { ...base, zone: v.optional(v.string()) }, [], ["zone is not registered"]],
    ["a required field", { ...base, zone: v.string() }, ["zone"], ["zone is not optional"]],
    ["an unregistered value", { ...base, kind: v.picklist(["a", "b", "c"]) }, [], ["kind is not registered"]],
    ["a removed field", { kind: base.kind }, [], ["name was removed or changed"]],
  ])("is checked for %s", (_, entries, registered, expected) => {
    expect(brokenRules(shape(base), shape(entries), registered)).toEqual(expected);
  });
});

describe("a writer", () => {
  test("writes the lowest version that can express the state", () => {
    const { format: _, ...state } = recorded("busy");
    expect(lowestVersionFor(state)).toBe(1);
    expect(lowestVersionFor(withZone(undefined), later)).toBe(1);
    expect(lowestVersionFor(withZone("UTC"), later)).toBe(1);
    expect(lowestVersionFor(withZone("Europe/Berlin"), later)).toBe(2);
    const document = withZone("Europe/Berlin");
    document.core.terminals[0].driver = "conpty";
    expect(lowestVersionFor(document, later)).toBe(3);
  });

  test("names what a program with an older schema cannot express", () => {
    const document = withZone("Europe/Berlin");
    expect(describeBeyond(1, document, later)).toBe("a session with a time zone needs schema version 2");
    expect(describeBeyond(2, document, later)).toBeUndefined();
    expect(additionsBeyond(1, withZone("UTC"), later)).toEqual([]);
  });
});

describe("a reader", () => {
  const states = recordedVersions.flatMap((known) => ["idle", "busy"].map((name) => [known, name] as const));
  test.each(states)("accepts the recorded state of version %d: %s", (known, name) => {
    const document = parseDocument(fixture(known, `${name}.json`));
    expect(document.core.sessions.map((session) => session.name)).toContain("kept");
    expect(document.core.commands.ended.length).toBeGreaterThan(3);
  });

  test("ignores fields that it does not know", () => {
    const document = withZone("Europe/Berlin");
    document.later = { unknown: [1, 2] };
    const parsed = parseDocument(JSON.stringify(document));
    expect(parsed).not.toHaveProperty("later");
    expect(parsed.core.sessions[0]).not.toHaveProperty("timeZone");
  });

  test("accepts every version from 1 up to its own", () => {
    expect([ownSchemaVersion(), ownSchemaVersion(later)]).toEqual([2, 3]);
    for (const format of [1, 2, 3])
      expect(parseDocument(JSON.stringify({ ...recorded("idle"), format }), later).format).toBe(format);
    const parse = (format: unknown) => () => parseDocument(JSON.stringify({ ...recorded("idle"), format }));
    expect(parse(3)).toThrow("the state has schema version 3, and this program reads versions 1 to 2");
    for (const format of [0, -1, 1.5, "1", null, undefined]) expect(parse(format)).toThrow("schema version");
    expect(() => requireReadable(4, later)).toThrow("this program reads versions 1 to 3");
  });

  test("names the path of an invalid value, and not the value", () => {
    const document = recorded("idle");
    document.core.sessions[0].timeoutS = "s3cret";
    const parse = () => parseDocument(JSON.stringify(document));
    expect(parse).toThrow("the state document is invalid at core.sessions.0.timeoutS");
    expect(parse).not.toThrow("s3cret");
  });
});
