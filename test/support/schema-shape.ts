// The shape of a valibot schema as lines of "path: type", so that two versions of a schema can be compared.
import type { GenericSchema } from "valibot";

// biome-ignore lint/suspicious/noExplicitAny: each kind of schema has fields of its own
type AnySchema = GenericSchema & Record<string, any>;

/** Optional fields end with "?", items of arrays and values of records are "[]", kinds of a variant are "<kind>". */
export function shapeOf(schema: GenericSchema, path = ""): string[] {
  const it = schema as AnySchema;
  switch (it.type) {
    case "object":
      return Object.entries(it["entries"] as Record<string, AnySchema>).flatMap(([name, field]) =>
        shapeOf(field, path === "" ? name : `${path}.${name}`),
      );
    case "array":
      return shapeOf(it["item"], `${path}[]`);
    case "record":
      return shapeOf(it["value"], `${path}[]`);
    case "tuple":
      return it["items"].flatMap((item: AnySchema, at: number) => shapeOf(item, `${path}[${at}]`));
    case "optional":
      return shapeOf(it["wrapped"], `${path}?`);
    case "nullable":
      return shapeOf(it["wrapped"], path).map((line) => `${line}, nullable`);
    case "variant":
      return it["options"].flatMap((option: AnySchema) =>
        shapeOf(option, `${path}<${option["entries"][it["key"]].literal}>`),
      );
    case "picklist":
      return [`${path}: ${it["options"].join(" | ")}`];
    case "literal":
      return [`${path}: ${it["literal"]}`];
    case "custom":
      return [`${path}: ${it["message"]}`];
    default:
      return [`${path}: ${it.type}`];
  }
}

interface ShapeLine {
  path: string;
  type: string;
  isOptional: boolean;
}

/** Without the marks for optional fields and kinds of a variant, the path is written as in a table of additions. */
function parseLine(line: string): ShapeLine {
  const [, path, type] = /^(.*?): (.*)$/.exec(line)!;
  return {
    path: path!.replace(/\?|<[^>]*>|(?<=\[)\d+(?=\])/g, ""),
    type: type!,
    isOptional: path!.includes("?"),
  };
}

/**
 * Changes between two shapes that break the rule of src/upgrade/schema/versions.ts: a field may only be added, as an
 * optional one, and an added field or value must be registered by its path or by that of a field around it.
 */
export function brokenRules(before: string[], after: string[], registered: string[]): string[] {
  const isRegistered = ({ path }: ShapeLine) =>
    registered.some(
      (added) => path === added || path.startsWith(`${added}.`) || path.startsWith(`${added}[`),
    );
  const added = after.filter((line) => !before.includes(line)).map(parseLine);
  const removed = before.filter((line) => !after.includes(line)).map(parseLine);
  const extendsValues = (old: ShapeLine) =>
    added.some(({ path, type }) => path === old.path && type.startsWith(`${old.type} | `));
  return [
    ...removed.filter((line) => !extendsValues(line)).map(({ path }) => `${path} was removed or changed`),
    ...added.filter((line) => !isRegistered(line)).map(({ path }) => `${path} is not registered`),
    ...added
      .filter((line) => !line.isOptional && !removed.some((old) => old.path === line.path))
      .map(({ path }) => `${path} is not optional`),
  ];
}
