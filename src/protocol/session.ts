// Params and results of the session methods.
import * as v from "valibot";
import { exitReasons } from "./exec.ts";
import { EnvOverrides, Name, NamePatterns, OsPath, OsText, Seconds, SessionId, Timestamp } from "./fields.ts";
import { Isolation, IsolationInfo, Receipt } from "./isolation.ts";
import { Labels, RuntimeField, UnavailableRuntimes } from "./runtime.ts";

export const sessionStates = ["creating", "idle", "running", "terminated"] as const;
export type SessionState = (typeof sessionStates)[number];

export const inheritEnvModes = ["all", "safe", "none"] as const;
export type InheritEnv = (typeof inheritEnvModes)[number];

export const CreateParams = v.object({
  shell: v.optional(OsPath),
  env: v.optional(EnvOverrides),
  working_dir: v.optional(OsPath),
  name: v.optional(Name),
  timeout_s: v.optional(Seconds),
  stateful: v.optional(v.boolean()),
  init: v.optional(OsText),
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

const InitOutcome = v.object({
  exit_code: v.number(),
  stdout: v.string(),
  stderr: v.string(),
  reason: v.picklist(exitReasons),
});

export const CreateResult = v.object({
  session_id: SessionId,
  shell: v.string(),
  working_dir: v.string(),
  state: v.picklist(sessionStates),
  created_at: Timestamp,
  name: v.nullable(v.string()),
  timeout_s: v.number(),
  stateful: v.boolean(),
  /** Why nothing is kept, where the request did not ask for that. */
  stateful_reason: v.optional(v.string()),
  init: v.optional(InitOutcome),
  runtime: RuntimeField,
});
export type CreateResult = v.InferOutput<typeof CreateResult>;

export const SessionSummary = v.object({
  session_id: SessionId,
  name: v.nullable(v.string()),
  kind: v.picklist(["exec", "pty"]),
  shell: v.string(),
  state: v.picklist(sessionStates),
  working_dir: v.string(),
  created_at: Timestamp,
  last_activity: Timestamp,
  command_count: v.number(),
  timeout_s: v.number(),
  idle_timeout_s: v.number(),
  max_age_s: v.number(),
  /** When the session ends without further activity; `null` if never. */
  expires_at: v.nullable(Timestamp),
  expires_by: v.nullable(v.picklist(["idle", "age"])),
  runtime: RuntimeField,
});
export type SessionSummary = v.InferOutput<typeof SessionSummary>;

export const SessionInfo = v.object({
  ...SessionSummary.entries,
  env_keys: v.array(v.string()),
  stateful: v.boolean(),
  running_command: v.nullable(v.object({ command_id: v.string(), started_at: Timestamp })),
  processes: v.number(),
  isolation: v.nullable(IsolationInfo),
  /** Sum over all commands so far. */
  receipt: Receipt,
});
export type SessionInfo = v.InferOutput<typeof SessionInfo>;

export const ListResult = v.object({
  sessions: v.array(SessionSummary),
  unavailable: UnavailableRuntimes,
});
export const InfoParams = v.object({ session_id: SessionId });
export const DestroyParams = v.object({ session_id: SessionId, force: v.optional(v.boolean()) });
/** Pids that could not be killed (uninterruptible I/O, another user); absent if every process is dead. */
export const LeftPids = v.optional(v.array(v.number()));
export const DestroyResult = v.object({
  session_id: SessionId,
  state: v.literal("terminated"),
  left: LeftPids,
});
