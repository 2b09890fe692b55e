// Validates the params of a request against the method table. Messages name the field and what was expected, never the
// value: a wrong field may hold a secret.
import * as v from "valibot";
import { nearest } from "../util/nearest.ts";
import { TrlError } from "./errors.ts";
import { type MethodName, methods, type Params } from "./methods.ts";

/** Throws INVALID_PARAMS; otherwise returns the params without fields that are `null`. */
export interface Validator {
  params<M extends MethodName>(method: M, raw: unknown): Params<M>;
  object<S extends ObjectSchema>(schema: S, raw: unknown): v.InferOutput<S>;
}

export function validateParams<M extends MethodName>(method: M, raw: unknown): Params<M> {
  return validateObject(methods[method].params, raw) as Params<M>;
}

export type ObjectSchema = v.GenericSchema & { entries: Entries };

export function validateObject<S extends ObjectSchema>(schema: S, raw: unknown): v.InferOutput<S> {
  const given = withoutNulls(raw ?? {});
  refuseLists(schema.entries, given, "");
  const checked = v.safeParse(schema, given);
  if (checked.success) return checked.output;
  const message = describeIssue(checked.issues[0], schema.entries);
  const hint =
    checked.issues[0].type === "strict_object" ? "" : misspellingHint(given, Object.keys(schema.entries));
  throw new TrlError("INVALID_PARAMS", message + hint);
}

export const plainValidator: Validator = { params: validateParams, object: validateObject };

const isRecord = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === "object" && raw !== null && !Array.isArray(raw);

/** An optional field that is `null` counts as missing: clients in typed languages send it. */
export function withoutNulls(raw: unknown): Record<string, unknown> {
  if (!isRecord(raw))
    throw new TrlError("INVALID_PARAMS", `params: expected an object, got ${typeName(raw)}`);
  for (const name in raw) if (raw[name] === null) return onlyGiven(raw);
  return raw;
}

const onlyGiven = (raw: object) =>
  Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));

type Entries = Record<string, v.GenericSchema>;

function describeIssue(issue: v.BaseIssue<unknown>, entries: Entries): string {
  const path = pathOf(issue);
  if (issue.type === "strict_object" && issue.expected === "never") return unknownField(issue, entries);
  if (issue.kind === "validation") return `${path}: expected ${issue.message}`;
  if (issue.received === "undefined")
    return `${path}: required, expected ${entries[path]?.expects ?? "a value"}`;
  const expected = issue.type === "custom" ? issue.message : issue.expected;
  return `${path}: expected ${expected}, got ${typeName(issue.input)}`;
}

/** The message for an unknown field of a strict object. */
function unknownField(issue: v.BaseIssue<unknown>, entries: Entries): string {
  const keys = (issue.path ?? []).map(({ key }) => String(key));
  const known = Object.keys(keys.slice(0, -1).reduce(entriesOf, entries));
  const meant = nearest(keys.at(-1)!, known);
  return `${pathOf(issue)}: no such field; ${meant ? `is it meant to be "${meant}"?` : `there are ${known.join(", ")}`}`;
}

/** The entries of a strict object, inside its optional and nullish wrappers. */
function entriesOf(entries: Entries, key: string): Entries {
  let schema = entries[key] as { type: string; wrapped?: unknown; entries?: Entries } | undefined;
  while (schema?.wrapped) schema = schema.wrapped as typeof schema;
  return (schema?.type === "strict_object" && schema.entries) || {};
}

/** valibot accepts an array as an object without fields. */
function refuseLists(entries: Entries, given: object, path: string): void {
  for (const [key, value] of Object.entries(given)) {
    const own = typeof value === "object" && value !== null ? entriesOf(entries, key) : {};
    if (Object.keys(own).length === 0) continue;
    if (Array.isArray(value))
      throw new TrlError("INVALID_PARAMS", `${path}${key}: expected an object, got an array`);
    refuseLists(own, value, `${path}${key}.`);
  }
}

/** A key that does not look like a name may be a misplaced value, even a secret, and is not repeated. */
function pathOf(issue: v.BaseIssue<unknown>): string {
  const keys = (issue.path ?? []).map(({ key }) => String(key));
  return keys.map((key) => (/^[\w.-]{1,64}$/.test(key) ? key : "(name)")).join(".") || "params";
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return `a ${typeof value}`.replace("a object", "an object");
}

/** Comparing one name with all known names takes about 10 us. */
const hintedNamesMax = 100;

function misspellingHint(given: Record<string, unknown>, known: string[]): string {
  for (const name of Object.keys(given).slice(0, hintedNamesMax)) {
    const meant = known.includes(name) ? undefined : nearest(name, known);
    if (meant && !(meant in given)) return ` (is "${name.slice(0, 64)}" meant to be "${meant}"?)`;
  }
  return "";
}
