// The daemon itself: statistics, description, upgrade.
import { nonInteractive } from "../../core/isolation/env-policy.ts";
import { steadyMs } from "../../core/lifetime/instant.ts";
import { scrollbackLines, terminalRingBytes } from "../../core/limits.ts";
import { autoDriver, drivers } from "../../core/terminal/create-terminal.ts";
import { openDescriptors, residentBytes } from "../../platform/own-process.ts";
import { errorCodes } from "../../protocol/errors.ts";
import { methodSchemas } from "../../protocol/json-schema.ts";
import { protocolVersion } from "../../protocol/methods.ts";
import type { DescribeResult } from "../../protocol/system.ts";
import { reachableKinds } from "../../remote/connectors/connector.ts";
import type { HandlerServices, Handlers } from "./handlers.ts";

type SystemHandlers = Pick<Handlers, "system.ping" | "system.stats" | "system.describe" | "system.upgrade">;

export function systemHandlers(services: HandlerServices): SystemHandlers {
  const { registry, counters, version } = services;
  const uptimeS = () => Math.floor((steadyMs() - services.startedAt.steadyMs) / 1000);
  return {
    "system.ping": () => ({ uptime_s: uptimeS(), version }),

    "system.stats": () => ({
      active_sessions: registry.list().length + registry.terminals.live.length,
      total_commands_run: registry.totalCommandsRun,
      uptime_s: uptimeS(),
      memory_rss_bytes: residentBytes(),
      open_fds: openDescriptors(),
      running_commands: registry.list().filter((session) => session.isRunning).length,
      pty_sessions: registry.terminals.live.length,
      subscribers: registry.terminals.live.reduce((sum, terminal) => sum + terminal.displayCount, 0),
      leftover_processes: registry.ownership.adoptedCount,
      connections: counters.connections,
      connections_total: counters.connectionsTotal,
      bytes_in: counters.bytesIn,
      bytes_out: counters.bytesOut,
      pid: process.pid,
      upgrades: services.upgrading.count,
    }),

    "system.describe": () => describe(services),

    "system.upgrade": (params, context) =>
      services.upgrading.begin(params, (action) => context.afterReply(action)),
  };
}

export async function describe({
  registry,
  version,
  maxLineBytes,
  transports,
  labels,
  upgrading,
}: HandlerServices): Promise<DescribeResult> {
  const { options } = registry;
  return {
    protocol_version: protocolVersion,
    version,
    platform: { os: process.platform, arch: process.arch, bun: Bun.version },
    methods: methodSchemas(),
    error_codes: errorCodes,
    capabilities: {
      ...capabilitiesOf({ registry, transports, labels }),
      isolation: await registry.isolations.capabilities.describe(),
    },
    limits: {
      max_sessions: options.maxSessions,
      max_line_bytes: maxLineBytes,
      max_output_bytes: options.maxOutputBytes,
      default_timeout_s: options.defaultTimeoutS,
      max_idle_sec: options.maxIdleS,
      session_ttl_sec: options.sessionTtlS,
      session_max_commands: options.sessionMaxCommands,
      session_max_processes: options.sessionMaxProcesses,
    },
    last_upgrade: upgrading.last,
  };
}

/** Capabilities in which daemons differ, except isolation, which takes a trial to detect. */
export function capabilitiesOf({
  registry: { options, ownership },
  transports,
  labels,
}: Pick<HandlerServices, "registry" | "transports" | "labels">) {
  return {
    transports,
    runtimes: reachableKinds,
    labels,
    stateful_shells: ["bash", "zsh", "sh", "dash", "ash"],
    adopts_orphans: ownership.adoptsOrphans,
    inherit_env: ["all", "safe", "none"],
    env_defaults: Object.keys(nonInteractive),
    dialects: ["methods", "frontend"],
    pty: {
      default_driver: options.ptyDriver === "auto" ? autoDriver : options.ptyDriver,
      drivers: Object.fromEntries(
        Object.values(drivers).map(({ name, capabilities }) => [name, capabilities]),
      ),
      term: "xterm-256color",
      ring_bytes: terminalRingBytes,
      scrollback_lines: scrollbackLines,
    },
  };
}
