import * as v from "valibot";

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
});
export type StatsResult = v.InferOutput<typeof StatsResult>;

const MethodDescription = v.object({
  summary: v.string(),
  repeatable: v.pipe(v.boolean(), v.description("may be asked again by a client that lost the reply")),
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
});
export type DescribeResult = v.InferOutput<typeof DescribeResult>;
