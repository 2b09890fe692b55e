// What a daemon hands to the program that takes its place: one document, checked by the one who takes it. A change that
// the program before could not have written, or could not read on the way back, needs another number.
import * as v from "valibot";
import { CommandStoreState, SessionState } from "./commands.ts";
import { Descriptor, Moment, SteadyMs } from "./fields.ts";
import { TerminalState } from "./terminals.ts";

export const handoverFormat = 1;

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
  /** Which of the daemon's control groups. */
  cgroup: v.optional(v.string()),
  confinement: v.variant("kind", [
    v.object({ kind: v.literal("none") }),
    v.object({ kind: v.literal("chroot"), root: v.string(), unshare: v.string() }),
    v.object({ kind: v.literal("bubblewrap"), program: v.string(), sandbox: Sandbox }),
    v.object({ kind: v.literal("sandbox-exec"), sandbox: Sandbox }),
  ]),
});
export type IsolationState = v.InferOutput<typeof IsolationState>;

/** Where the daemon's control groups are: it has moved since it looked. */
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
  /** The numbers in the marks of sessions. A program that marks nothing does not hand them over. */
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
  /** The most memory that the daemon has had. */
  peakBytes: v.number(),
});
export type CoreState = v.InferOutput<typeof CoreState>;

/** A place in a command's output, kept for a client that comes back with its key. */
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

export const Handover = v.object({
  format: v.literal(handoverFormat),
  version: v.string(),
  writtenAt: Moment,
  writtenSteadyMs: v.optional(SteadyMs),
  startedAt: Moment,
  startedSteadyMs: v.optional(SteadyMs),
  runDir: v.string(),
  token: v.string(),
  /** The pid file, whose lock is held through it. */
  lockFd: v.optional(Descriptor),
  unix: v.optional(v.object({ fd: Descriptor })),
  http: v.optional(
    v.object({
      /** Undefined where it took no connections at that moment. */
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
  /** What is known of a daemon that was killed before, as it is in the journal. */
  recovered: v.array(v.record(v.string(), v.unknown())),
});
export type Handover = v.InferOutput<typeof Handover>;
