// Metrics in the text format of Prometheus.
import { durationClasses } from "../../../core/command/metrics.ts";
import type { SessionRegistry } from "../../../core/session/registry.ts";
import { openDescriptors, residentBytes } from "../../../platform/own-process.ts";
import type { ServerCounters } from "../../counters.ts";

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

type Sample = [labels: string, value: number];

export function metricsText(registry: SessionRegistry, counters: ServerCounters): string {
  const { tally } = registry.commands;
  const sessions = registry.list();
  const terminals = registry.terminals.live;
  const families = [
    gauge("trl_sessions", "Sessions that exist, by kind.", [
      ['{kind="exec"}', sessions.length],
      ['{kind="pty"}', terminals.length],
    ]),
    gauge("trl_commands_running", "Commands that run now.", [
      ["", sessions.filter(({ isRunning }) => isRunning).length],
    ]),
    counter(
      "trl_commands_total",
      "Commands that have ended, by outcome.",
      Object.entries(tally.outcomes).map(([outcome, count]): Sample => [`{outcome="${outcome}"}`, count]),
    ),
    durations(tally),
    counter("trl_command_output_bytes_total", "Bytes that ended commands printed.", [
      ["", tally.outputBytes],
    ]),
    gauge("trl_subscribers", "Clients that watch a terminal.", [
      ["", terminals.reduce((sum, { displayCount }) => sum + displayCount, 0)],
    ]),
    gauge("trl_connections", "Connections that are open.", [["", counters.connections]]),
    counter("trl_connections_total", "Connections since the start.", [["", counters.connectionsTotal]]),
    counter("trl_received_bytes_total", "Bytes from clients.", [["", counters.bytesIn]]),
    counter("trl_sent_bytes_total", "Bytes to clients.", [["", counters.bytesOut]]),
    counter("trl_requests_total", "Requests that were answered.", [["", counters.requests]]),
    counter(
      "trl_errors_total",
      "Requests that were answered with an error, by its code.",
      [...counters.errors].map(([code, count]): Sample => [`{code="${code}"}`, count]),
    ),
    gauge("trl_resident_memory_bytes", "Memory of the daemon itself.", [["", residentBytes()]]),
    gauge("trl_open_fds", "Descriptors that the daemon holds.", [["", openDescriptors()]]),
    gauge("trl_uptime_seconds", "Seconds since the start.", [["", Math.floor(process.uptime())]]),
  ];
  return `${families.join("\n")}\n`;
}

const gauge = (name: string, help: string, samples: Sample[]) => family(name, "gauge", help, samples);
const counter = (name: string, help: string, samples: Sample[]) => family(name, "counter", help, samples);

function family(name: string, type: string, help: string, samples: Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}${labels} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join("\n");
}

function durations(tally: SessionRegistry["commands"]["tally"]): string {
  const name = "trl_command_duration_seconds";
  const classes = durationClasses.map((bound, at) => `${name}_bucket{le="${bound}"} ${tally.durations[at]}`);
  return [
    `# HELP ${name} How long commands ran.`,
    `# TYPE ${name} histogram`,
    ...classes,
    `${name}_bucket{le="+Inf"} ${tally.count}`,
    `${name}_sum ${tally.secondsTotal}`,
    `${name}_count ${tally.count}`,
  ].join("\n");
}
