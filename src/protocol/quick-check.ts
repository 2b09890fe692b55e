// Most requests hold a few fields of plain types, and a keystroke's way through the general validator is as long as
// the rest of its way together. What can be seen at a glance is seen here, by tests that are derived from the same
// schema; everything else, and every error, is the validator's business.
import type * as v from "valibot";

type Test = (value: unknown) => boolean;

export interface QuickCheck {
  tests: Map<string, Test>;
  required: string[];
}

interface Described {
  type: string;
  wrapped?: Described;
  options?: readonly unknown[];
  pipe?: readonly { kind: string }[];
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
  for (const name in given) {
    const test = check.tests.get(name);
    if (!test?.(given[name])) return false;
  }
  for (const name of check.required) if (!Object.hasOwn(given, name)) return false;
  return true;
}

function checkOf(entries: Record<string, v.GenericSchema>): QuickCheck {
  const tests = new Map<string, Test>();
  const required: string[] = [];
  for (const [name, schema] of Object.entries(entries)) {
    const described = schema as unknown as Described;
    const isOptional = described.type === "optional";
    const test = testOf(isOptional ? described.wrapped! : described);
    if (test) tests.set(name, test);
    if (!isOptional) required.push(name);
  }
  return { tests, required };
}

function testOf({ type, options, pipe }: Described): Test | undefined {
  // What has a condition beyond its type is not plain; a description is none.
  if (pipe?.slice(1).some(({ kind }) => kind !== "metadata")) return undefined;
  if (type === "string" || type === "boolean") return (value) => typeof value === type;
  return type === "picklist" && options ? (value) => options.includes(value) : undefined;
}
