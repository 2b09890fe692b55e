// The state document: everything that a daemon hands to the next executable in an upgrade. The executable that reads it
// checks it against this schema. The keys are a format between versions of trl: they never change, and some are names
// that the code no longer uses. versions.ts has the rule by which the schema grows.
import * as v from "valibot";
import { CommandStoreState, SessionState } from "./commands.ts";
import { Descriptor, Moment, SteadyMs } from "./fields.ts";
import { TerminalState } from "./terminals.ts";

const Owner = v.object({ sessionId: v.string(), commandId: v.optional(v.string()) });

const Sandbox = v.object({
  root: v.string(),
  network: v.boolean(),
  privateTmp: v.optional(v.string()),
  writable: v.array(v.string()),
  hidden: v.array(v.string()),
  secrets: v.array(v.string()),
});

export const IsolationState = v.object({
  limits: v.record(v.string(), v.number()),
  /** Name of the session's control group below the daemon's own. */
  cgroup: v.optional(v.string()),
  confinement: v.variant("kind", [
    v.object({ kind: v.literal("none") }),
    v.object({ kind: v.literal("chroot"), root: v.string(), unshare: v.string() }),
    v.object({ kind: v.literal("bubblewrap"), program: v.string(), sandbox: Sandbox }),
    v.object({ kind: v.literal("sandbox-exec"), sandbox: Sandbox }),
  ]),
});
export type IsolationState = v.InferOutput<typeof IsolationState>;

/** Paths of the daemon's control groups. They cannot be detected again: the daemon has moved itself into one of them. */
export const CgroupsState = v.variant("version", [
  v.object({ version: v.literal("v1"), homes: v.record(v.string(), v.string()), count: v.number() }),
  v.object({
    version: v.literal("v2"),
    parent: v.string(),
    name: v.string(),
    isRoot: v.boolean(),
    count: v.number(),
  }),
]);
export type CgroupsState = v.InferOutput<typeof CgroupsState>;

export const IsolationsState = v.object({
  cgroups: v.optional(CgroupsState),
  enclosures: v.array(IsolationState),
});
export type IsolationsState = v.InferOutput<typeof IsolationsState>;

const Process = v.object({ pid: v.number(), startTime: v.string(), owner: v.optional(Owner) });

export const OwnershipState = v.object({
  exempt: v.string(),
  foreign: v.array(v.number()),
  adopted: v.array(Process),
  met: v.array(Process),
  hasLeftSomething: v.array(v.string()),
  /** The number in each session's process mark. Undefined in documents of programs without process marks. */
  marks: v.optional(v.array(v.object({ sessionId: v.string(), number: v.number() }))),
});
export type OwnershipState = v.InferOutput<typeof OwnershipState>;

export const CoreState = v.object({
  custody: OwnershipState,
  enclosures: IsolationsState,
  commands: CommandStoreState,
  sessions: v.array(SessionState),
  terminals: v.array(TerminalState),
  commandsOfEnded: v.number(),
  shellCount: v.number(),
  /** Peak memory of the daemon, over all programs that it has been. */
  peakBytes: v.number(),
});
export type CoreState = v.InferOutput<typeof CoreState>;

/** A resume point: offsets in a command's output, kept for a client that reconnects with the key. */
export const ResumePointState = v.object({
  commandId: v.string(),
  key: v.string(),
  offsets: v.object({ stdout: v.number(), stderr: v.number() }),
  leftMs: v.number(),
});
export type ResumePointState = v.InferOutput<typeof ResumePointState>;

export const CountersState = v.object({
  connectionsTotal: v.number(),
  bytesIn: v.number(),
  bytesOut: v.number(),
  requests: v.number(),
  errors: v.record(v.string(), v.number()),
});
export type CountersState = v.InferOutput<typeof CountersState>;

export const RuntimesState = v.object({
  runtimes: v.array(v.object({ name: v.string(), spec: v.record(v.string(), v.unknown()) })),
  routes: v.array(v.object({ sessionId: v.string(), runtime: v.string(), isLive: v.boolean() })),
});
export type RuntimesState = v.InferOutput<typeof RuntimesState>;

export const StateDocument = v.object({
  /** The lowest schema version that can express this document; see versions.ts. */
  format: v.number(),
  /** The version of trl that wrote it. */
  version: v.string(),
  writtenAt: Moment,
  writtenSteadyMs: v.optional(SteadyMs),
  startedAt: Moment,
  startedSteadyMs: v.optional(SteadyMs),
  runDir: v.string(),
  token: v.string(),
  /** The pid file. Its lock stays held while this descriptor is open. */
  lockFd: v.optional(Descriptor),
  unix: v.optional(v.object({ fd: Descriptor })),
  http: v.optional(
    v.object({
      /** Undefined if the listener was not accepting connections. */
      fd: v.optional(Descriptor),
      url: v.string(),
      port: v.number(),
      tickets: v.record(v.string(), v.number()),
      tls: v.optional(v.object({ cert: v.string(), key: v.string() })),
    }),
  ),
  counters: CountersState,
  heldPlaces: v.array(ResumePointState),
  runtimes: RuntimesState,
  core: CoreState,
  upgrades: v.number(),
  /** Journal records of a daemon that was killed earlier on this socket. */
  recovered: v.array(v.record(v.string(), v.unknown())),
});
export type StateDocument = v.InferOutput<typeof StateDocument>;
