// Params and results of the system methods.
import * as v from "valibot";
import { OsPath, Seconds, Timestamp } from "./fields.ts";

export const PingResult = v.object({ uptime_s: v.number(), version: v.string() });

export const StatsResult = v.object({
  active_sessions: v.number(),
  total_commands_run: v.number(),
  uptime_s: v.number(),
  memory_rss_bytes: v.number(),
  open_fds: v.number(),
  running_commands: v.number(),
  pty_sessions: v.number(),
  subscribers: v.number(),
  leftover_processes: v.number(),
  connections: v.number(),
  connections_total: v.number(),
  bytes_in: v.number(),
  bytes_out: v.number(),
  pid: v.number(),
  upgrades: v.pipe(v.number(), v.description("how many upgrades this daemon has had since it started")),
});
export type StatsResult = v.InferOutput<typeof StatsResult>;

export const UpgradeParams = v.object({
  executable: v.pipe(
    OsPath,
    v.check((path) => path.startsWith("/"), "an absolute path"),
    v.description("the executable to upgrade to"),
  ),
  drain_timeout_s: v.optional(
    v.pipe(Seconds, v.description("how long to wait for work that cannot be handed over (60)")),
  ),
});
export type UpgradeParams = v.InferOutput<typeof UpgradeParams>;

export const UpgradeResult = v.object({
  pid: v.number(),
  from_version: v.string(),
  to_version: v.string(),
  waits_for: v.pipe(
    v.array(v.string()),
    v.description("work that cannot be handed over; new work is refused until it has ended"),
  ),
});
export type UpgradeResult = v.InferOutput<typeof UpgradeResult>;

/** The outcome of the last upgrade. */
export const LastUpgrade = v.object({
  at: Timestamp,
  from_version: v.string(),
  to_version: v.nullable(v.string()),
  ok: v.boolean(),
  reason: v.pipe(v.nullable(v.string()), v.description("why it failed; the daemon went on unchanged")),
});
export type LastUpgrade = v.InferOutput<typeof LastUpgrade>;

const MethodDescription = v.object({
  summary: v.string(),
  repeatable: v.pipe(
    v.boolean(),
    v.description("idempotent: a client that lost the reply may repeat the request"),
  ),
  params: v.unknown(),
  result: v.unknown(),
  events: v.optional(v.record(v.string(), v.unknown())),
});

export const DescribeResult = v.object({
  protocol_version: v.number(),
  version: v.string(),
  platform: v.object({ os: v.string(), arch: v.string(), bun: v.string() }),
  methods: v.record(v.string(), MethodDescription),
  error_codes: v.record(v.string(), v.object({ http: v.number(), exit: v.number() })),
  capabilities: v.record(v.string(), v.unknown()),
  limits: v.record(v.string(), v.number()),
  last_upgrade: v.nullable(LastUpgrade),
});
export type DescribeResult = v.InferOutput<typeof DescribeResult>;
