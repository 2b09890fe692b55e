// Renders JSON Schema as text. Covers only the keywords that the method table uses; --json prints all.

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  pattern?: string;
}

export interface Field {
  name: string;
  type: string;
  isOptional: boolean;
  notes: string;
}

/** Nested fields follow their object, as `until.text`. */
export function fieldsOf(schema: Schema, prefix = ""): Field[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([key, inner]): Field[] => {
    const isOptional = !required.includes(key);
    const name = prefix + key;
    const field = { name, type: typeText(inner), isOptional, notes: notesOf(inner, isOptional) };
    const { below, suffix } = within(inner);
    return [field, ...(below ? fieldsOf(below, `${name}${suffix}.`) : [])];
  });
}

function within(schema: Schema): { below: Schema | undefined; suffix: string } {
  const candidates = schema.anyOf ?? [schema];
  const plain = candidates.find(({ properties }) => properties);
  const list = candidates.find(({ items }) => items?.properties);
  return plain ? { below: plain, suffix: "" } : { below: list?.items, suffix: "[]" };
}

export function typeText(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(typeText).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((it) => JSON.stringify(it)).join(" | ");
  if (schema.type === "array") return listOf(typeText(schema.items ?? {}));
  if (typeof schema.additionalProperties === "object")
    return `{ NAME: ${typeText(schema.additionalProperties)} }`;
  return [schema.type ?? "any"].flat().join(" | ");
}

const listOf = (type: string) => (type.includes(" ") ? `(${type})[]` : `${type}[]`);

function notesOf(schema: Schema, isOptional: boolean): string {
  const { description, minimum, maximum, minLength, pattern } = schema;
  return [
    isOptional ? "optional" : "",
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
    rangeText(minimum, maximum),
    minLength === 1 ? "not empty" : "",
    pattern ? `matches ${pattern}` : "",
    description ?? "",
  ]
    .filter(Boolean)
    .join("; ");
}

function rangeText(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `>= ${minimum}`;
  return maximum === undefined ? "" : `<= ${maximum}`;
}
