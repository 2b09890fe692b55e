// Params, results and events of the pty methods.
import * as v from "valibot";
import { encodings, exitReasons, LostError, lostReason } from "./exec.ts";
import {
  Bytes,
  EnvOverrides,
  Name,
  NamePatterns,
  OsPath,
  OsText,
  Seconds,
  SessionId,
  Timestamp,
  WindowBytes,
} from "./fields.ts";
import { Isolation, Receipt } from "./isolation.ts";
import { ListParams as AllRuntimesParams, Labels, RuntimeField, UnavailableRuntimes } from "./runtime.ts";
import { inheritEnvModes, LeftPids } from "./session.ts";

export const driverNames = ["native", "bun-pty"] as const;
export type DriverName = (typeof driverNames)[number];

/** The kernel allows 16 bits a side; an emulated screen of that size would take gigabytes. */
const sideMax = 1000;
/** Drawing a screen takes time for each cell, and blocks the event loop. */
export const cellsMax = 100_000;
export const Side = v.pipe(
  v.number(),
  v.integer("a whole number of cells"),
  v.minValue(1, "at least 1 cell"),
  v.maxValue(sideMax, `at most ${sideMax} cells`),
);

/** Clients may choose the id. It appears in command lines and file names, so its characters are restricted. */
export const TerminalId = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
    "1 to 128 letters, digits, dots, dashes, colons or underscores",
  ),
);

const Size = { cols: Side, rows: Side };

export const CreateParams = v.object({
  command: v.optional(OsText),
  args: v.optional(v.array(OsText)),
  shell: v.optional(OsPath),
  working_dir: v.optional(OsPath),
  env: v.optional(EnvOverrides),
  cols: v.optional(Side),
  rows: v.optional(Side),
  name: v.optional(Name),
  session_id: v.optional(TerminalId),
  driver: v.optional(v.picklist([...driverNames, "auto"])),
  inherit_env: v.optional(v.picklist(inheritEnvModes)),
  env_include: v.optional(NamePatterns),
  env_exclude: v.optional(NamePatterns),
  idle_timeout_s: v.optional(Seconds),
  max_age_s: v.optional(Seconds),
  isolation: v.optional(Isolation),
  runtime: v.optional(v.string()),
  needs: v.optional(Labels),
});
export type CreateParams = v.InferOutput<typeof CreateParams>;

export const terminalStates = ["running", "exited"] as const;

export const TerminalSummary = v.object({
  session_id: SessionId,
  name: v.nullable(v.string()),
  pid: v.number(),
  cols: v.number(),
  rows: v.number(),
  driver: v.picklist(driverNames),
  shell: v.string(),
  command: v.nullable(v.string()),
  working_dir: v.string(),
  state: v.picklist(terminalStates),
  created_at: Timestamp,
  last_activity: Timestamp,
  subscribers: v.number(),
  offset: v.pipe(v.number(), v.description("bytes of output so far")),
  first_offset: v.pipe(v.number(), v.description("offset of the first byte still in the ring")),
  exit_code: v.nullable(v.number()),
  signal: v.nullable(v.string()),
  ended_at: v.nullable(Timestamp),
  reason: v.nullable(v.picklist([...exitReasons, lostReason])),
  receipt: v.nullable(Receipt),
  runtime: RuntimeField,
});
export type TerminalSummary = v.InferOutput<typeof TerminalSummary>;

export const TerminalParams = v.object({ session_id: SessionId });
export const ListParams = v.object({
  state: v.optional(v.picklist(terminalStates)),
  ...AllRuntimesParams.entries,
});
export const ListResult = v.object({
  sessions: v.array(TerminalSummary),
  unavailable: UnavailableRuntimes,
});

export const WriteParams = v.object({
  session_id: SessionId,
  data: v.string(),
  encoding: v.optional(v.picklist(encodings)),
});
export const WriteResult = v.object({ session_id: SessionId, bytes: v.number(), pending_bytes: v.number() });

export const ResizeParams = v.object({ session_id: SessionId, ...Size });
export const ResizeResult = v.object({
  session_id: SessionId,
  cols: v.number(),
  rows: v.number(),
  applied: v.pipe(v.boolean(), v.description("false if another client decides the size")),
});

export const CloseResult = v.object({
  session_id: SessionId,
  state: v.literal("terminated"),
  exit_code: v.nullable(v.number()),
  signal: v.nullable(v.string()),
  left: LeftPids,
});

/** Lines above the screen. */
const Scrollback = v.pipe(v.number(), v.integer("a whole number of lines"), v.minValue(0, "a number >= 0"));

export const replays = ["screen", "none"] as const;
export const SubscribeParams = v.object({
  session_id: SessionId,
  from: v.optional(Bytes),
  replay: v.optional(v.picklist(replays)),
  scrollback: v.optional(Scrollback),
  window_bytes: v.optional(WindowBytes),
  passive: v.optional(v.boolean()),
  exit_after_tree: v.optional(v.boolean()),
});
export const SubscribeResult = v.object({
  session_id: SessionId,
  offset: v.number(),
  cols: v.number(),
  rows: v.number(),
  state: v.picklist(terminalStates),
});

export const AckParams = v.object({ session_id: SessionId, offset: Bytes });
export const AckResult = v.object({ session_id: SessionId });

export const UnsubscribeResult = v.object({ session_id: SessionId, unsubscribed: v.boolean() });

export const formats = ["text", "styled", "ansi"] as const;
export type SnapshotFormat = (typeof formats)[number];
export const SnapshotParams = v.object({
  session_id: SessionId,
  format: v.optional(v.picklist(formats)),
  scrollback: v.optional(Scrollback),
});

export const Snapshot = v.object({
  lines: v.optional(v.array(v.string())),
  data: v.optional(v.string()),
  cursor: v.object({ row: v.number(), col: v.number(), visible: v.boolean() }),
  cols: v.number(),
  rows: v.number(),
  title: v.string(),
  alternate_screen: v.boolean(),
  offset: v.number(),
  screen_error: v.optional(
    v.pipe(
      v.string(),
      v.description("why the screen does not show all output; the output stream itself is complete"),
    ),
  ),
  lost: v.optional(
    v.pipe(v.literal(true), v.description("the screen was lost with a daemon that was killed")),
  ),
});
export type Snapshot = v.InferOutput<typeof Snapshot>;

const Until = v.pipe(
  v.object({
    text: v.optional(v.pipe(v.string(), v.nonEmpty("some text"))),
    regex: v.optional(v.pipe(v.string(), v.nonEmpty("a regular expression"))),
    idle_ms: v.optional(
      v.pipe(v.number(), v.finite("a number of milliseconds"), v.minValue(0, "a number >= 0")),
    ),
    exit: v.optional(v.boolean()),
  }),
  v.check(
    ({ text, regex, idle_ms, exit }) =>
      text !== undefined || regex !== undefined || idle_ms !== undefined || exit === true,
    "one of text, regex, idle_ms, exit",
  ),
);
export type Until = v.InferOutput<typeof Until>;

export const WaitParams = v.object({
  session_id: SessionId,
  until: Until,
  timeout_s: v.optional(Seconds),
});
export const waitOutcomes = ["text", "regex", "idle", "exit", "timeout"] as const;
export type WaitOutcome = (typeof waitOutcomes)[number];
export const WaitResult = v.object({ matched: v.picklist(waitOutcomes), screen: Snapshot });

const Frame = { session_id: SessionId };
export const terminalEvents = {
  output: v.object({
    ...Frame,
    type: v.literal("output"),
    data: v.pipe(v.string(), v.description("base64")),
    offset: v.pipe(v.number(), v.description("of the first byte; for a redraw, of the next live byte")),
    redraw: v.optional(v.literal(true)),
  }),
  resize: v.object({ ...Frame, type: v.literal("resize"), cols: v.number(), rows: v.number() }),
  gap: v.object({ ...Frame, type: v.literal("gap"), from: v.number(), to: v.number() }),
  exit: v.object({
    ...Frame,
    type: v.literal("exit"),
    exit_code: v.number(),
    signal: v.nullable(v.string()),
    reason: v.picklist([...exitReasons, lostReason]),
    offset: v.number(),
    error: v.optional(LostError),
  }),
};
