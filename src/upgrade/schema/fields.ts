// Field types that all parts of the state document share. Bytes are stored in the state file in front of the document,
// which refers to them by offset; descriptors keep their numbers across exec.
import * as v from "valibot";

/** A range of the state file. */
export const Bytes = v.object({ at: v.number(), length: v.number() });
export type Bytes = v.InferOutput<typeof Bytes>;

export const Descriptor = v.pipe(v.number(), v.integer(), v.minValue(3));

/** Collects what the document refers to while the state is serialized. */
export interface Packing {
  bytes(piece: Uint8Array): Bytes;
  /** The descriptor stays open across exec, with the same number. */
  descriptor(fd: number): number;
}

/** Resolves what the document refers to while the state is restored. */
export interface Unpacking {
  bytes(piece: Bytes): Uint8Array;
  /** Milliseconds since the document was written. Elapsed times in it must be advanced by this. */
  readonly gapMs: number;
}

/** Not `v.record`, which drops variables named `__proto__`, `constructor` and `prototype`. */
const variables = <T>(isValue: (value: unknown) => boolean) =>
  v.custom<Record<string, T>>(
    (env) => typeof env === "object" && env !== null && Object.values(env).every(isValue),
    "variables",
  );
export const Env = variables<string>((value) => typeof value === "string");
export const EnvOverrides = variables<string | null>((value) => value === null || typeof value === "string");
export const Size = v.object({ cols: v.number(), rows: v.number() });
/** Wall-clock time in ms since 1970. */
export const Moment = v.number();
/** The same by a clock that cannot be set (see core/lifetime/instant.ts). Older programs wrote the wall-clock time alone. */
export const SteadyMs = v.number();

export const Exit = v.object({ exitCode: v.number(), signal: v.nullable(v.string()) });
