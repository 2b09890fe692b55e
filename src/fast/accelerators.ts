// Makes the accelerators that are switched on, for the daemon to inject into core and server.
import type { RunnerAccelerators } from "../core/command/runners/accelerators.ts";
import { bash } from "../core/command/shell/bash/bash.ts";
import type { CommandFeed } from "../core/command/shell/dialect.ts";
import type { CoreAccelerators } from "../core/session/registry.ts";
import { plainValidator, type Validator } from "../protocol/validate.ts";
import { type ByteEncoder, scalarEncoder } from "../util/byte-encoder.ts";
import { hasThreads } from "../util/engine-settings.ts";
import { DirectExec, SpawnPace } from "./direct-exec/direct-exec.ts";
import { inPlace } from "./in-place/in-place.ts";
import { QuickValidator } from "./quick-check/quick-check.ts";
import { reportPlan, reportPlanner } from "./short-reports/report-plan.ts";
import { WideEncoder } from "./simd/wide-encoder.ts";
import type { FastSwitches } from "./switches.ts";
import { NextShell } from "./warm-shells/next-shell.ts";
import { WarmShellPool } from "./warm-shells/warm-shell-pool.ts";

export interface Accelerators {
  core: CoreAccelerators;
  validator: Validator;
  encoder: ByteEncoder;
}

export function createAccelerators(switches: FastSwitches, env: Record<string, string>): Accelerators {
  // Compiling WebAssembly starts threads: where there may be none, the engine would abort the daemon.
  const isOn = (name: keyof FastSwitches) => switches[name] && (name !== "simd" || hasThreads(env));
  return {
    core: {
      runners: runnersFor(switches),
      readsDirectly: isOn("direct-read"),
    },
    validator: isOn("quick-check") ? new QuickValidator() : plainValidator,
    encoder: isOn("simd") ? new WideEncoder() : scalarEncoder,
  };
}

function runnersFor(switches: FastSwitches): RunnerAccelerators {
  const pool = new WarmShellPool();
  const isExecedByShell = (feed: CommandFeed) => {
    const plan = switches["warm-shells"] && switches["short-reports"] ? reportPlan(feed) : undefined;
    return plan?.report === "none" && plan.exec !== undefined;
  };
  const choice = { pace: new SpawnPace(), isExecedByShell };
  return {
    ...(switches["warm-shells"] && { shellSupply: (source) => new NextShell(source, pool) }),
    ...(switches["in-place"] && { inPlace }),
    ...(switches["direct-exec"] && {
      directExec: (spec, ownership) =>
        spec.dialect === bash ? new DirectExec(spec, ownership, choice) : undefined,
    }),
    ...(switches["short-reports"] && { reportPlanner }),
  };
}
