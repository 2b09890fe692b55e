// Versions of the state document, and the rule by which the schema grows.
//
// A document carries, as `format`, the LOWEST schema version that can express the state it holds. A program reads every
// version from 1 up to its own, and ignores fields that it does not know. So an upgrade, a rollback and a downgrade work
// as long as the state uses nothing that the reading program cannot express. Otherwise the daemon refuses the upgrade
// before it starts, and the error names the state that is in the way.
//
// To add something to the schema:
// - Add a field, as an optional one: `v.optional(schema, default)`, where the default is what every program before did.
//   A field is never removed, renamed, made required, or given another meaning or type.
// - A new value of a picklist or a new kind of a variant is an addition, too: older programs refuse it.
// - Register it in `additions`, with the next version number (one number per release is enough), and with `isUsed`:
//   whether a value says more than the default does.
// Version 1 is the schema without additions. test/unit/upgrade/versions.test.ts compares the schema with the recorded
// shapes of test/fixtures/upgrade, and fails for a difference that is not registered here.

export interface SchemaAddition {
  /** The first schema version that has the field or the value. */
  version: number;
  /** Where it is in the document: names with dots, `[]` for the items of an array or the values of a record. */
  path: string;
  /** The state that needs it, for error messages: "a session with a time zone". */
  feature: string;
  /** Whether this value, found at the path, cannot be expressed by the versions before. */
  isUsed(value: unknown): boolean;
}

/** Every addition since version 1, oldest first. */
export const additions: readonly SchemaAddition[] = [
  {
    version: 2,
    path: "core.sessions[].executor.isOldShell",
    feature: "a session with an old shell",
    isUsed: (isOldShell) => isOldShell === true,
  },
];

/** Additions that the document uses and that schema version `known` does not have. */
export function additionsBeyond(known: number, document: unknown, table = additions): SchemaAddition[] {
  return table.filter(
    ({ version, path, isUsed }) => version > known && valuesAt(document, path.split(".")).some(isUsed),
  );
}

/** The lowest schema version that can express the document. */
export const lowestVersionFor = (document: unknown, table = additions): number =>
  latestOf(additionsBeyond(1, document, table));

/** The latest schema version that this program reads and writes. */
export const ownSchemaVersion = (table = additions): number => latestOf(table);

const latestOf = (table: readonly SchemaAddition[]): number =>
  Math.max(1, ...table.map(({ version }) => version));

/** Throws where this program cannot read documents of that version. */
export function requireReadable(version: unknown, table = additions): void {
  const own = ownSchemaVersion(table);
  if (Number.isInteger(version) && Number(version) >= 1 && Number(version) <= own) return;
  const known = own === 1 ? "version 1" : `versions 1 to ${own}`;
  throw new Error(`the state has schema version ${String(version)}, and this program reads ${known}`);
}

/** What keeps a program that reads up to `known` from the document, for an error message; undefined if nothing does. */
export function describeBeyond(known: number, document: unknown, table = additions): string | undefined {
  const used = additionsBeyond(known, document, table);
  if (used.length === 0) return undefined;
  return used.map(({ version, feature }) => `${feature} needs schema version ${version}`).join(", ");
}

function valuesAt(value: unknown, path: string[]): unknown[] {
  const [step, ...rest] = path;
  if (step === undefined) return value === undefined ? [] : [value];
  if (typeof value !== "object" || value === null) return [];
  const name = step.replace(/\[\]$/, "");
  const field = (value as Record<string, unknown>)[name];
  if (name === step) return valuesAt(field, rest);
  return Object.values(field ?? {}).flatMap((item) => valuesAt(item, rest));
}
