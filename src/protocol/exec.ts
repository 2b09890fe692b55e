// Params, results and events of the exec methods.
import * as v from "valibot";
import { Bytes, EnvOverrides, OsPath, OsText, Seconds, SessionId, Timestamp, WindowBytes } from "./fields.ts";
import { Receipt } from "./isolation.ts";
import { ListParams as AllRuntimesParams, RuntimeField, UnavailableRuntimes } from "./runtime.ts";

export const encodings = ["utf8", "base64"] as const;
export type Encoding = (typeof encodings)[number];

/** The last four: a limit of the session's isolation ended the command. */
export const exitReasons = [
  "exit",
  "signal",
  "timeout",
  "cancelled",
  "memory_limit",
  "cpu_time_limit",
  "file_size_limit",
  "wall_clock_limit",
] as const;
export type ExitReason = (typeof exitReasons)[number];

/** The command's timeout, or the wall clock limit of its session. */
export const isTimeout = (reason: ExitReason): boolean =>
  reason === "timeout" || reason === "wall_clock_limit";

/** The outcome is unknown: the runtime is gone, or the daemon was killed while the command ran. */
export const lostReason = "lost";
export const lostExitCode = 255;

/** Same shape as the error of a reply. */
export const LostError = v.object({ code: v.string(), message: v.string(), data: v.optional(v.unknown()) });
export type LostError = v.InferOutput<typeof LostError>;

/** Upper bound of max_output_bytes, so that one request cannot exhaust the memory. */
const outputCeilingBytes = 64 * 1024 * 1024;
const MaxOutputBytes = v.pipe(Bytes, v.maxValue(outputCeilingBytes, `at most ${outputCeilingBytes} bytes`));

/** With an id of its own, a client can find the command even if the reply was lost. */
const CommandId = v.pipe(v.string(), v.regex(/^x-[0-9a-f]{8,32}$/, "`x-` and 8 to 32 lowercase hex digits"));

export const RunParams = v.object({
  session_id: SessionId,
  command: OsText,
  command_id: v.optional(CommandId),
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
  receipt: Receipt,
  command_id: v.string(),
  working_dir: v.string(),
});
export type RunResult = v.InferOutput<typeof RunResult>;

/** Replaces the bytes left out of the middle of an output. */
export const omissionMarker = (bytes: number): string => `\n[trl: ${bytes} bytes left out]\n`;

/** Identifies a client that reconnects after its connection broke. */
const ResumeKey = v.pipe(
  v.string(),
  v.regex(/^[\w-]{1,64}$/, "1 to 64 letters, digits, dashes or underscores"),
);

export const StreamParams = v.object({
  ...RunParams.entries,
  open_stdin: v.optional(v.boolean()),
  stall_timeout_s: v.optional(Seconds),
  window_bytes: v.optional(WindowBytes),
  resume_key: v.optional(ResumeKey),
});
export type StreamParams = v.InferOutput<typeof StreamParams>;

export const StreamId = v.pipe(v.string(), v.description("a command's id, `x-` and hex digits"));
export const StreamResult = v.object({ stream_id: StreamId, session_id: SessionId });

export const WriteParams = v.object({
  stream_id: StreamId,
  data: v.optional(v.string()),
  encoding: v.optional(v.picklist(encodings)),
  eof: v.optional(v.boolean()),
});
export const WriteResult = v.object({ stream_id: StreamId, bytes: v.number(), pending_bytes: v.number() });

export const CancelParams = v.object({
  session_id: v.optional(SessionId),
  stream_id: v.optional(StreamId),
  signal: v.optional(v.string()),
});
export const CancelResult = v.object({ cancelled: v.boolean(), signal: v.optional(v.string()) });

export const AttachParams = v.object({
  stream_id: StreamId,
  stdout_offset: v.optional(Bytes),
  stderr_offset: v.optional(Bytes),
  encoding: v.optional(v.picklist(encodings)),
  stall_timeout_s: v.optional(Seconds),
  window_bytes: v.optional(WindowBytes),
  resume_key: v.optional(ResumeKey),
});
export const streamStates = ["running", "ended"] as const;
export const AttachResult = v.object({
  stream_id: StreamId,
  session_id: SessionId,
  state: v.picklist(streamStates),
  /** Start of the replay: the requested offset, or the first one still in the ring. */
  stdout_offset: v.number(),
  stderr_offset: v.number(),
  stdout_bytes: v.number(),
  stderr_bytes: v.number(),
  truncated: v.boolean(),
});

export const AckParams = v.object({
  stream_id: StreamId,
  stdout_offset: v.optional(Bytes),
  stderr_offset: v.optional(Bytes),
});
export const AckResult = v.object({ stream_id: StreamId });

/** Gets the result of a command that another client started, or after a lost reply. */
export const WaitParams = v.object({
  stream_id: StreamId,
  check: v.optional(v.boolean()),
  encoding: v.optional(v.picklist(encodings)),
});

export const DetachParams = v.object({ stream_id: StreamId });
export const DetachResult = v.object({ stream_id: StreamId, detached: v.boolean() });

export const ListParams = v.object({
  state: v.optional(v.picklist(streamStates)),
  ...AllRuntimesParams.entries,
});

export const StreamSummary = v.object({
  stream_id: StreamId,
  session_id: SessionId,
  session_name: v.nullable(v.string()),
  kind: v.picklist(["run", "stream"]),
  command: v.pipe(v.string(), v.description("as given; truncated if long")),
  pid: v.number(),
  state: v.picklist(streamStates),
  started_at: Timestamp,
  ended_at: v.nullable(Timestamp),
  stdout_bytes: v.number(),
  stderr_bytes: v.number(),
  exit_code: v.nullable(v.number()),
  signal: v.nullable(v.string()),
  reason: v.nullable(v.picklist([...exitReasons, lostReason])),
  runtime: RuntimeField,
});
export type StreamSummary = v.InferOutput<typeof StreamSummary>;
export const StreamList = v.object({ streams: v.array(StreamSummary), unavailable: UnavailableRuntimes });

const OutputFrame = v.object({
  stream_id: StreamId,
  data: v.string(),
  offset: v.number(),
  end: v.optional(v.pipe(v.number(), v.description("the offset behind the data; only with window_bytes"))),
});
const GapFrame = v.object({ stream_id: StreamId, stream: v.string(), from: v.number(), to: v.number() });
const LaggedFrame = v.object({ stream_id: StreamId, stdout_offset: v.number(), stderr_offset: v.number() });
export const ExitFrame = v.object({
  stream_id: StreamId,
  type: v.literal("exit"),
  exit_code: v.number(),
  signal: v.nullable(v.string()),
  reason: v.picklist([...exitReasons, lostReason]),
  duration_ms: v.number(),
  timed_out: v.boolean(),
  stdout_bytes: v.number(),
  stderr_bytes: v.number(),
  leftovers: RunResult.entries.leftovers,
  /** Not where it is lost. */
  receipt: v.optional(Receipt),
  error: v.optional(LostError),
});
export type ExitFrame = v.InferOutput<typeof ExitFrame>;

/** Frames that follow the reply to exec.stream and exec.attach, by their `type`. */
export const streamEvents = {
  stdout: OutputFrame,
  stderr: OutputFrame,
  gap: GapFrame,
  lagged: LaggedFrame,
  exit: ExitFrame,
} as const;
