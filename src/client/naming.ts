// The wire says `timeout_s`, JavaScript says `timeoutS`. Names are turned by rule, from the schemas of the method
// table, so that a new field needs no code here.
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

/** A method's parameters in JavaScript's spelling, without those that the caller gives otherwise. */
export type Options<M extends MethodName, Given extends keyof Params<M> = never> = Camelized<
  Omit<Params<M>, Given>
>;

export function camelized<T>(value: T): Camelized<T> {
  if (Array.isArray(value)) return value.map(camelized) as Camelized<T>;
  if (typeof value !== "object" || value === null) return value as Camelized<T>;
  const entries = Object.entries(value).map(([key, inner]) => [camelCase(key), camelized(inner)]);
  return Object.fromEntries(entries) as Camelized<T>;
}

/** The other way round. */
export function wireSpelt<T>(value: Camelized<T>): T {
  if (Array.isArray(value)) return value.map((item) => wireSpelt(item)) as T;
  if (typeof value !== "object" || value === null) return value as T;
  const entries = Object.entries(value).map(([key, inner]) => [snakeCase(key), wireSpelt(inner)]);
  return Object.fromEntries(entries) as T;
}

interface Described {
  entries?: Record<string, Described>;
  wrapped?: Described;
}

/** Options as the wire names them. One that is not known is told, for it would be ignored without a word. */
export function wireParams<M extends MethodName>(method: M, options: object): Partial<Params<M>> {
  return toWire(methods[method].params as Described, options, method) as Partial<Params<M>>;
}

function toWire(schema: Described, given: object, place: string): Record<string, unknown> {
  const fields = new Map(
    Object.entries(schema.entries ?? {}).map(([name, it]) => [camelCase(name), { name, it }]),
  );
  const wire: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const field = fields.get(key);
    if (!field) throw unknownOption(key, [...fields.keys()], place);
    wire[field.name] = valueToWire(field.it, value, `${place} ${key}`);
  }
  return wire;
}

/** Only what has fields of its own is spelt anew: the names in an environment are the user's. */
function valueToWire(schema: Described, value: unknown, place: string): unknown {
  const inner = schema.wrapped ?? schema;
  const hasFields = inner.entries !== undefined && typeof value === "object" && value !== null;
  return hasFields ? toWire(inner, value, place) : value;
}

function unknownOption(key: string, known: string[], place: string): TypeError {
  const meant = nearest(key, known);
  return new TypeError(`${place}: there is no option "${key}"${meant ? `; is it "${meant}"?` : ""}`);
}
