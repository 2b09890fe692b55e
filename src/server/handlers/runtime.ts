// Runtimes: adding, removing and checking them.
import { TrlError } from "../../protocol/errors.ts";
import { hostRuntime, type RuntimeInfo } from "../../protocol/runtime.ts";
import { specFrom } from "../../protocol/runtime-spec.ts";
import type { HandlerServices, Handlers } from "./handlers.ts";
import { describe } from "./system.ts";

type RuntimeHandlers = Pick<Handlers, Extract<keyof Handlers, `runtime.${string}`>>;

export function runtimeHandlers(services: HandlerServices): RuntimeHandlers {
  const { runtimes } = services;
  return {
    "runtime.list": async () => ({
      runtimes: [
        hostInfo(services),
        ...(await Promise.all(
          runtimes.all.map(async (runtime) => {
            const isConnected = runtime.state === "connected";
            const stats = isConnected ? await runtime.askBriefly("system.stats", {}) : undefined;
            return runtimes.infoOf(runtime, stats?.running_commands ?? null);
          }),
        )),
      ],
    }),

    "runtime.add": ({ name, kind, ...fields }) =>
      runtimes.infoOf(runtimes.add(name, specFrom({ kind, ...fields }))),

    "runtime.remove": async ({ name, force = false }) => {
      if (name === hostRuntime)
        throw new TrlError("INVALID_PARAMS", 'name: "host" is this daemon and cannot be removed');
      await runtimes.remove(name, force);
      return { name, removed: true };
    },

    "runtime.check": async ({ name }) => {
      if (name === hostRuntime) {
        const { version, platform, capabilities } = await describe(services);
        return { name, kind: hostRuntime, version, platform, latency_ms: 0, capabilities };
      }
      const runtime = runtimes.get(name);
      const { version, platform, capabilities } = await runtime.ask("system.describe", {});
      const asked = performance.now();
      await runtime.ask("system.ping", {});
      const latency_ms = Math.round((performance.now() - asked) * 100) / 100;
      return { name, kind: runtime.spec.kind, version, platform, latency_ms, capabilities };
    },
  };
}

function hostInfo({ registry, labels, version, startedAt }: HandlerServices): RuntimeInfo {
  const sessions = registry.list();
  return {
    name: hostRuntime,
    kind: hostRuntime,
    target: "this daemon",
    labels: [...labels],
    state: "connected",
    since: startedAt.toISOString(),
    reason: null,
    version,
    running_commands: sessions.filter((session) => session.isRunning).length,
    sessions: sessions.length + registry.terminals.live.length,
  };
}
