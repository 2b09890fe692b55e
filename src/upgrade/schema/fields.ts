// What all parts of a handover are made of. Bytes lie behind the document and are referred to; descriptors keep their
// numbers across the exec.
import * as v from "valibot";

/** Bytes that were put behind the document. */
export const Bytes = v.object({ at: v.number(), length: v.number() });
export type Bytes = v.InferOutput<typeof Bytes>;

export const Descriptor = v.pipe(v.number(), v.integer(), v.minValue(3));

/** Takes what is to cross. */
export interface Packing {
  bytes(piece: Uint8Array): Bytes;
  /** The descriptor stays open in the program that comes. */
  descriptor(fd: number): number;
}

/** Gives it back. */
export interface Unpacking {
  bytes(piece: Bytes): Uint8Array;
  /** How long ago the document was written, in ms: clocks go on meanwhile. */
  readonly gapMs: number;
}

/** Not a `record`: that drops variables named `__proto__`, `constructor` and `prototype`. */
const variables = <T>(isValue: (value: unknown) => boolean) =>
  v.custom<Record<string, T>>(
    (env) => typeof env === "object" && env !== null && Object.values(env).every(isValue),
    "variables",
  );
export const Env = variables<string>((value) => typeof value === "string");
export const EnvOverrides = variables<string | null>((value) => value === null || typeof value === "string");
export const Size = v.object({ cols: v.number(), rows: v.number() });
/** A moment, in ms since 1970. */
export const Moment = v.number();
/** The same by the clock that nothing sets. A program that did not know it yet wrote the moment alone. */
export const SteadyMs = v.number();

export const Exit = v.object({ exitCode: v.number(), signal: v.nullable(v.string()) });
