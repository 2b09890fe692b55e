import * as v from "valibot";
import { Bytes, EnvOverrides, OsPath, OsText, Seconds, SessionId } from "./fields.ts";

export const encodings = ["utf8", "base64"] as const;
export type Encoding = (typeof encodings)[number];

export const exitReasons = ["exit", "signal", "timeout", "cancelled"] as const;
export type ExitReason = (typeof exitReasons)[number];

/** A request may ask for more than the daemon's default, but not for the machine's memory. */
const outputCeilingBytes = 256 * 1024 * 1024;
const MaxOutputBytes = v.pipe(Bytes, v.maxValue(outputCeilingBytes, `at most ${outputCeilingBytes} bytes`));

export const RunParams = v.object({
  session_id: SessionId,
  command: OsText,
  timeout_s: v.optional(Seconds),
  stdin: v.optional(v.string()),
  env: v.optional(EnvOverrides),
  working_dir: v.optional(OsPath),
  check: v.optional(v.boolean()),
  max_output_bytes: v.optional(MaxOutputBytes),
  encoding: v.optional(v.picklist(encodings)),
});
export type RunParams = v.InferOutput<typeof RunParams>;

export const RunResult = v.object({
  stdout: v.string(),
  stderr: v.string(),
  exit_code: v.number(),
  duration_ms: v.number(),
  timed_out: v.boolean(),
  signal: v.nullable(v.string()),
  reason: v.picklist(exitReasons),
  truncated: v.boolean(),
  stdout_bytes: v.number(),
  stderr_bytes: v.number(),
  leftovers: v.array(v.object({ pid: v.number(), command: v.string() })),
  command_id: v.string(),
  working_dir: v.string(),
});
export type RunResult = v.InferOutput<typeof RunResult>;
