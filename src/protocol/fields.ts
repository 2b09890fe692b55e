// Field types of more than one method group.
import * as v from "valibot";

export const SessionId = v.pipe(v.string(), v.description("a session's id, `s-` and 8 hex digits"));

const hasNoNul = (text: string) => !text.includes("\0");

/** Text for argv or the environment, where a NUL byte would truncate it silently. */
export const OsText = v.pipe(v.string(), v.check(hasNoNul, "text without NUL bytes"));

/** Bounded, because every list repeats the name. */
export const nameCharsMax = 256;
export const Name = v.pipe(v.string(), v.maxLength(nameCharsMax, `at most ${nameCharsMax} characters`));

export const OsPath = v.pipe(OsText, v.nonEmpty("a path"));

const isPlainObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const PlainObject = v.custom<Record<string, unknown>>(isPlainObject, "an object");

/** Linux starts no program with more (3/4 of _STK_LIM), whatever its limits are. */
const envCharsMax = 6 * 1024 * 1024;

/**
 * `null` unsets. Not a `v.record`, which silently drops a variable named `constructor`; so the JSON Schema is written
 * by hand.
 */
export const EnvOverrides = v.pipe(
  v.custom<Record<string, string | null>>(isPlainObject, "an object"),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    let chars = 0;
    for (const [key, value] of Object.entries(dataset.value)) {
      const message = envProblem(key, value);
      const path = { type: "object" as const, origin: "value" as const, input: dataset.value, key, value };
      if (message) addIssue({ message, path: [path as never] });
      chars += key.length + (typeof value === "string" ? value.length : 0);
    }
    if (chars > envCharsMax) addIssue({ message: `at most ${envCharsMax} characters in all` });
  }),
);
export const envOverridesJsonSchema = {
  type: "object",
  additionalProperties: { type: ["string", "null"] },
} as const;

function envProblem(name: string, value: unknown): string | undefined {
  if (name === "" || /[=\0]/.test(name)) return 'a variable name (not empty, no "=" or NUL)';
  if (value === null || (typeof value === "string" && hasNoNul(value))) return undefined;
  return typeof value === "string" ? "text without NUL bytes" : "string or null";
}

export const NamePatterns = v.array(v.pipe(OsText, v.nonEmpty("a pattern such as LC_*")));

/** Whole or fractional seconds; 0 means no limit. */
export const Seconds = v.pipe(
  v.number(),
  v.finite("a finite number of seconds"),
  v.minValue(0, "a number of seconds >= 0"),
);

export const Bytes = v.pipe(v.number(), v.integer("a whole number of bytes"), v.minValue(0, "a number >= 0"));

/** Flow-control window: how many unacknowledged bytes may be sent to a client. */
export const windowBytesMin = 4096;
export const WindowBytes = v.pipe(Bytes, v.minValue(windowBytesMin, `at least ${windowBytesMin} bytes`));

export const Timestamp = v.pipe(v.string(), v.description("RFC 3339, UTC"));
