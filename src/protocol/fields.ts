// Field types that more than one method group uses.
import * as v from "valibot";

export const SessionId = v.pipe(v.string(), v.description("a session's id, `s-` and 8 hex digits"));

const nameHasNoEquals = (name: string) => name !== "" && !/[=\0]/.test(name);
const hasNoNul = (text: string) => !text.includes("\0");

/** Text that ends up in argv or the environment, where a NUL byte would cut it silently. */
export const OsText = v.pipe(v.string(), v.check(hasNoNul, "text without NUL bytes"));

/** `null` unsets a variable. */
export const EnvOverrides = v.record(
  v.pipe(v.string(), v.check(nameHasNoEquals, 'a variable name (not empty, no "=" or NUL)')),
  v.nullable(OsText),
);

/** Whole or fractional seconds, however many; 0 means no limit. */
export const Seconds = v.pipe(v.number(), v.minValue(0, "a number of seconds >= 0"));

export const Bytes = v.pipe(v.number(), v.integer("a whole number of bytes"), v.minValue(0, "a number >= 0"));

export const Timestamp = v.pipe(v.string(), v.description("RFC 3339, UTC"));
