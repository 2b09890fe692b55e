// Converts names between the wire (`timeout_s`) and JavaScript (`timeoutS`), by the schemas of the method table, so a
// new field needs no code here.
import { camelCase, snakeCase } from "../protocol/frontend.ts";
import { type MethodName, methods, type Params } from "../protocol/methods.ts";
import { nearest } from "../util/nearest.ts";

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

export type Camelized<T> = T extends Uint8Array
  ? T
  : T extends readonly (infer Item)[]
    ? Camelized<Item>[]
    : T extends object
      ? { [K in keyof T as K extends string ? CamelCase<K> : K]: Camelized<T[K]> }
      : T;

/** A method's parameters in JavaScript's spelling, without those in `Given`. */
export type Options<M extends MethodName, Given extends keyof Params<M> = never> = Camelized<
  Omit<Params<M>, Given>
>;

export function camelized<T>(value: T): Camelized<T> {
  if (Array.isArray(value)) return value.map(camelized) as Camelized<T>;
  if (typeof value !== "object" || value === null) return value as Camelized<T>;
  const entries = Object.entries(value).map(([key, inner]) => [camelCase(key), camelized(inner)]);
  return Object.fromEntries(entries) as Camelized<T>;
}

/** The inverse of `camelized`. */
export function wireSpelt<T>(value: Camelized<T>): T {
  if (Array.isArray(value)) return value.map((item) => wireSpelt(item)) as T;
  if (typeof value !== "object" || value === null) return value as T;
  const entries = Object.entries(value).map(([key, inner]) => [snakeCase(key), wireSpelt(inner)]);
  return Object.fromEntries(entries) as T;
}

/** The part of a Valibot schema that is read here. */
interface SchemaShape {
  entries?: Record<string, SchemaShape>;
  wrapped?: SchemaShape;
}

/** Options in the spelling of the wire. Throws a TypeError for an unknown option, which would have no effect. */
export function wireParams<M extends MethodName>(method: M, options: object): Partial<Params<M>> {
  return toWire(methods[method].params as SchemaShape, options, method) as Partial<Params<M>>;
}

function toWire(schema: SchemaShape, given: object, context: string): Record<string, unknown> {
  const fields = new Map(
    Object.entries(schema.entries ?? {}).map(([name, it]) => [camelCase(name), { name, it }]),
  );
  const wire: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const field = fields.get(key);
    if (!field) throw unknownOption(key, [...fields.keys()], context);
    wire[field.name] = valueToWire(field.it, value, `${context} ${key}`);
  }
  return wire;
}

/** Converts only objects with a schema: the keys of an environment, for example, are the user's. */
function valueToWire(schema: SchemaShape, value: unknown, context: string): unknown {
  const inner = schema.wrapped ?? schema;
  const hasFields = inner.entries !== undefined && typeof value === "object" && value !== null;
  return hasFields ? toWire(inner, value, context) : value;
}

function unknownOption(key: string, known: string[], context: string): TypeError {
  const meant = nearest(key, known);
  return new TypeError(`${context}: there is no option "${key}"${meant ? `; is it "${meant}"?` : ""}`);
}
