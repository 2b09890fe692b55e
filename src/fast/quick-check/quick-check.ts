// Most requests hold a few fields of plain types, and a keystroke's way through the general validator is as long as
// the rest of its way together. What can be seen at a glance is seen here, by tests that are derived from the same
// schema; everything else, and every error, is the validator's business.
import type * as v from "valibot";

type Test = (value: unknown) => boolean;

interface Field {
  test: Test;
  isRequired: boolean;
}

interface QuickCheck {
  fields: Map<string, Field>;
  /** Also of those that cannot be seen at a glance. */
  requiredCount: number;
}

interface Described {
  type: string;
  wrapped?: Described;
  options?: readonly unknown[];
  /** The schema that the conditions are added to, and the conditions. */
  pipe?: readonly [Described, ...Condition[]];
}

interface Condition {
  kind: string;
  type: string;
  requirement?: unknown;
}

const checks = new WeakMap<object, QuickCheck>();

/** True only where the validator would take the object as it is. */
export function isPlainlyValid(
  entries: Record<string, v.GenericSchema>,
  given: Record<string, unknown>,
): boolean {
  let check = checks.get(entries);
  if (!check) {
    check = checkOf(entries);
    checks.set(entries, check);
  }
  let missing = check.requiredCount;
  for (const name in given) {
    const field = check.fields.get(name);
    if (!field?.test(given[name])) return false;
    if (field.isRequired) missing--;
  }
  return missing === 0;
}

function checkOf(entries: Record<string, v.GenericSchema>): QuickCheck {
  const fields: QuickCheck["fields"] = new Map();
  let requiredCount = 0;
  for (const [name, schema] of Object.entries(entries)) {
    const described = schema as unknown as Described;
    const isRequired = described.type !== "optional";
    const test = testOf(isRequired ? described : described.wrapped!);
    if (test) fields.set(name, { test, isRequired });
    if (isRequired) requiredCount++;
  }
  return { fields, requiredCount };
}

/** Undefined where the value is not plain, or has a condition that is not known here. */
function testOf(described: Described): Test | undefined {
  const { type, options } = described;
  const tests = [typeTest(type, options), ...conditionsOf(described).map(conditionTest)];
  const known = tests.filter((test) => test !== undefined);
  if (known.length < tests.length) return undefined;
  return known.length === 1 ? known[0] : (value) => known.every((test) => test(value));
}

/** A description is none. */
function conditionsOf({ pipe }: Described): Condition[] {
  if (!pipe) return [];
  const [base, ...added] = pipe;
  return [...conditionsOf(base), ...added.filter(({ kind }) => kind !== "metadata")];
}

function typeTest(type: string, options: readonly unknown[] | undefined): Test | undefined {
  if (type === "string" || type === "boolean") return (value) => typeof value === type;
  if (type === "number") return (value) => typeof value === "number" && !Number.isNaN(value);
  return type === "picklist" && options ? (value) => options.includes(value) : undefined;
}

/** What the validator itself would ask. */
function conditionTest({ kind, type, requirement }: Condition): Test | undefined {
  if (kind !== "validation") return undefined;
  if (typeof requirement === "function") return (value) => requirement(value) === true;
  if (requirement instanceof RegExp) return (value) => requirement.test(value as string);
  if (type === "non_empty") return (value) => (value as string).length > 0;
  if (typeof requirement !== "number") return undefined;
  if (type === "max_length") return (value) => (value as string).length <= requirement;
  if (type === "min_value") return (value) => (value as number) >= requirement;
  return type === "max_value" ? (value) => (value as number) <= requirement : undefined;
}
