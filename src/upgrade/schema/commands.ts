// Commands and sessions in the state document.
import * as v from "valibot";
import { exitReasons } from "../../protocol/exec.ts";
import { Receipt } from "../../protocol/isolation.ts";
import { Bytes, Descriptor, Env, EnvOverrides, Exit, Moment, SteadyMs } from "./fields.ts";

export const LogState = v.object({
  keptBytesMax: v.number(),
  capacity: v.number(),
  total: v.number(),
  tailStart: v.number(),
  head: Bytes,
  tail: Bytes,
});
export type LogState = v.InferOutput<typeof LogState>;

export const OutputState = v.object({ stdout: LogState, stderr: LogState });
export type OutputState = v.InferOutput<typeof OutputState>;

export const InputState = v.object({ fd: Descriptor, pending: Bytes, isEnding: v.boolean() });
export type InputState = v.InferOutput<typeof InputState>;

const Counters = v.object({
  cpuMs: v.optional(v.number()),
  throttledMs: v.optional(v.number()),
  oomKills: v.number(),
  forksRefused: v.number(),
});

/** Counters of the control group at the start of a command: its usage is the difference. */
export const MeterState = v.object({
  before: v.optional(Counters),
  isPeakReset: v.boolean(),
  peakBefore: v.number(),
});
export type MeterState = v.InferOutput<typeof MeterState>;

export const Outcome = v.object({
  ...Exit.entries,
  reason: v.picklist(exitReasons),
  durationMs: v.number(),
  leftovers: v.array(v.object({ pid: v.number(), command: v.string() })),
  receipt: Receipt,
  isOwnEnd: v.boolean(),
});

const known = { id: v.string(), pid: v.number(), startedAt: Moment, output: OutputState };

export const PastCommandState = v.object({ ...known, outcome: Outcome });
export type PastCommandState = v.InferOutput<typeof PastCommandState>;

export const RunningCommandState = v.object({
  ...known,
  timeoutS: v.number(),
  elapsedMs: v.number(),
  /** Undefined if the process has closed its end of the pipe. */
  stdoutFd: v.optional(Descriptor),
  stderrFd: v.optional(Descriptor),
  input: v.optional(InputState),
  meter: v.optional(MeterState),
  lastSignal: v.optional(v.string()),
  mayHandleSignals: v.boolean(),
});
export type RunningCommandState = v.InferOutput<typeof RunningCommandState>;

const record = {
  sessionId: v.string(),
  sessionName: v.nullable(v.string()),
  text: v.string(),
  kind: v.picklist(["run", "stream"]),
};

export const PastRecordState = v.object({
  ...record,
  command: PastCommandState,
  endedAt: Moment,
  endedSteadyMs: v.optional(SteadyMs),
  workingDir: v.string(),
});
export type PastRecordState = v.InferOutput<typeof PastRecordState>;

export const CommandStoreState = v.object({
  /** Oldest end first. */
  ended: v.array(PastRecordState),
  tally: v.object({
    outcomes: v.record(v.string(), v.number()),
    durations: v.array(v.number()),
    count: v.number(),
    secondsTotal: v.number(),
    outputBytes: v.number(),
  }),
});
export type CommandStoreState = v.InferOutput<typeof CommandStoreState>;

/** Strings hold one byte per character (latin1), since shell state is not always UTF-8. */
export const ShellStateState = v.object({
  workingDir: v.string(),
  previousDir: v.optional(v.string()),
  script: v.string(),
  lateScript: v.string(),
  aliasScript: v.optional(v.string()),
  exportedNames: v.pipe(v.array(v.string()), v.readonly()),
  lastStatus: v.number(),
});

/** A shell with a running command: what the restored session needs to read its state report at the end. */
export const BusyShellState = v.object({
  dir: v.string(),
  launchEnv: Env,
  mayReport: v.boolean(),
  request: v.object({
    commandId: v.string(),
    command: v.string(),
    env: EnvOverrides,
    workingDir: v.optional(v.string()),
    wantsStdin: v.boolean(),
  }),
  feed: v.object({
    commandId: v.string(),
    command: v.string(),
    state: ShellStateState,
    workingDir: v.string(),
    place: v.picklist(["here", "elsewhere", "gone"]),
    env: v.array(v.tuple([v.string(), v.nullable(v.string())])),
    hasStdin: v.boolean(),
    mayImportFunctions: v.boolean(),
  }),
});
export type BusyShellState = v.InferOutput<typeof BusyShellState>;

export const RunnerState = v.variant("kind", [
  v.object({ kind: v.literal("plain"), env: Env, workingDir: v.string() }),
  v.object({
    kind: v.literal("stateful"),
    /** Environment of every shell of the session. */
    launchEnv: Env,
    state: ShellStateState,
    /** Undefined while no command runs. */
    busy: v.optional(BusyShellState),
    /** It can use warm shells only, of all accelerators. */
    isOldShell: v.optional(v.boolean(), false),
  }),
]);
export type RunnerState = v.InferOutput<typeof RunnerState>;

export const SessionState = v.object({
  id: v.string(),
  name: v.nullable(v.string()),
  shell: v.string(),
  timeoutS: v.number(),
  idleTimeoutS: v.number(),
  maxAgeS: v.number(),
  createdAt: Moment,
  createdSteadyMs: v.optional(SteadyMs),
  lastActivity: Moment,
  lastActivitySteadyMs: v.optional(SteadyMs),
  commandCount: v.number(),
  totals: Receipt,
  /** Index into the isolation states of the core. */
  enclosure: v.optional(v.number()),
  executor: RunnerState,
  running: v.optional(v.object({ ...record, command: RunningCommandState })),
  /** Pipes of ended commands that a leftover process holds open. */
  lingeringFds: v.array(Descriptor),
});
export type SessionState = v.InferOutput<typeof SessionState>;
