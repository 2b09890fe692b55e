// The quick-check accelerator: accepts params with a few fields of plain types by tests that are derived from the schema.
// For a keystroke, valibot takes as long as the rest of the request. All other params, and all errors, go to valibot.
import type * as v from "valibot";
import { type MethodName, methods, type Params } from "../../protocol/methods.ts";
import { type ObjectSchema, type Validator, validateObject, withoutNulls } from "../../protocol/validate.ts";

type Test = (value: unknown) => boolean;

interface Field {
  test: Test;
  isRequired: boolean;
}

interface QuickCheck {
  fields: Map<string, Field>;
  /** Includes the fields without a test. */
  requiredCount: number;
}

interface Described {
  type: string;
  wrapped?: Described;
  options?: readonly unknown[];
  /** The base schema, and the conditions that are added to it. */
  pipe?: readonly [Described, ...Condition[]];
}

interface Condition {
  kind: string;
  type: string;
  requirement?: unknown;
}

type Entries = Record<string, v.GenericSchema>;

export class QuickValidator implements Validator {
  readonly #checks = new WeakMap<Entries, QuickCheck>();

  params<M extends MethodName>(method: M, raw: unknown): Params<M> {
    return this.object(methods[method].params, raw) as Params<M>;
  }

  object<S extends ObjectSchema>(schema: S, raw: unknown): v.InferOutput<S> {
    const given = withoutNulls(raw ?? {});
    return this.isPlainlyValid(schema.entries, given) ? given : validateObject(schema, given);
  }

  /** True only where valibot would return the object as it is. */
  isPlainlyValid(entries: Entries, given: Record<string, unknown>): boolean {
    let check = this.#checks.get(entries);
    if (!check) {
      check = checkOf(entries);
      this.#checks.set(entries, check);
    }
    let missing = check.requiredCount;
    for (const name in given) {
      const field = check.fields.get(name);
      if (!field?.test(given[name])) return false;
      if (field.isRequired) missing--;
    }
    return missing === 0;
  }
}

function checkOf(entries: Entries): QuickCheck {
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

/** Undefined for a type or a condition without a test. */
function testOf(described: Described): Test | undefined {
  const { type, options } = described;
  const tests = [typeTest(type, options), ...conditionsOf(described).map(conditionTest)];
  const known = tests.filter((test) => test !== undefined);
  if (known.length < tests.length) return undefined;
  return known.length === 1 ? known[0] : (value) => known.every((test) => test(value));
}

/** Without descriptions, which are no conditions. */
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

/** The same test as in valibot. */
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
