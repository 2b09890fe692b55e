// Creates the services that all listeners share: sessions, runtimes, counters and resume points, empty or from the state of an upgrade.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Instant } from "../core/lifetime/instant.ts";
import type { Log } from "../core/log.ts";
import { ProcessOwnership } from "../core/process/ownership.ts";
import { SessionRegistry } from "../core/session/registry.ts";
import { type Accelerators, createAccelerators } from "../fast/accelerators.ts";
import { type CrashRecovery, journalPath } from "../recovery/crash-recovery.ts";
import { daemonTag, stdioTag } from "../recovery/daemon-tag.ts";
import type { Recovered } from "../recovery/recovered.ts";
import { Executables } from "../remote/provision/executables.ts";
import { Runtimes } from "../remote/runtimes.ts";
import { newCounters, type ServerCounters } from "../server/counters.ts";
import { ResumePoints } from "../server/resume-points.ts";
import { restoreSessions, type Takeover } from "../upgrade/restore/takeover.ts";
import type { RuntimesState } from "../upgrade/schema/document.ts";
import { isOwnSetting } from "../util/engine-settings.ts";
import { discoveryDirs } from "../util/runtime-dir.ts";
import { beside } from "../util/socket-path.ts";
import { trustedDirsVariable } from "../util/trusted-socket.ts";
import { OptionError } from "./option-error.ts";
import type { DaemonOptions } from "./options.ts";

export interface Services {
  registry: SessionRegistry;
  runtimes: Runtimes;
  counters: ServerCounters;
  accelerators: Accelerators;
  resumePoints: ResumePoints;
  /** Commands and terminals of a daemon that was killed. */
  recovered: Recovered;
  startedAt: Instant;
}

export function createServices(
  options: DaemonOptions,
  runDir: string,
  recovery: CrashRecovery,
  takeover: Takeover | undefined,
  log: Log,
): Services {
  const { core, runtimes: known, counters, startedAt, startedSteadyMs } = takeover?.state.document ?? {};
  const settings = coreOptions(options, runDir);
  const ownership = new ProcessOwnership(undefined, core?.custody, settings.daemonTag);
  const accelerators = createAccelerators(options.fast, options.env);
  const runtimes = createRuntimes(options, ownership, runDir, known);
  const registry = new SessionRegistry({
    ...{ options: settings, accelerators: accelerators.core, log, ownership, before: core },
    events: recovery.recorder(ownership),
    isRemoteId: (id) => runtimes.routes.isLive(id),
  });
  const services = {
    ...{ registry, runtimes, accelerators, recovered: recovery.recovered },
    counters: newCounters(counters),
    resumePoints: new ResumePoints(),
    startedAt: new Instant(startedAt, startedSteadyMs),
  };
  if (takeover) restoreSessions(registry, services.resumePoints, takeover.state);
  return services;
}

function coreOptions(options: DaemonOptions, runDir: string) {
  const { socketPath } = options;
  const secretPaths = options.hasSocket
    ? [socketPath, beside(socketPath, ".token"), beside(socketPath, ".pid"), journalPath(socketPath)]
    : [];
  return {
    ...options,
    runDir,
    secretPaths,
    runtimeDirs: runtimeDirsOf(options),
    defaultShell: options.shell,
    daemonTag: daemonTag(options.hasSocket ? socketPath : stdioTag),
  };
}

/** Includes the default directories, where daemons with other settings write their discovery files. */
function runtimeDirsOf({ announcementsDir, env }: DaemonOptions): string[] {
  const usual = discoveryDirs({ ...env, TRL_RUNTIME_DIR: undefined });
  const all = [announcementsDir, ...discoveryDirs(env), ...usual].filter((dir) => dir !== undefined);
  return [...new Set(all)].map(dirname);
}

/** Programs that connectors start inherit the daemon's environment without trl's own settings. */
function createRuntimes(
  options: DaemonOptions,
  ownership: ProcessOwnership,
  runDir: string,
  before: RuntimesState | undefined,
): Runtimes {
  const isInherited = (name: string) => name === trustedDirsVariable || !isOwnSetting(name, options.env);
  const entries = Object.entries(options.env).filter(([name]) => isInherited(name));
  const env = { ...Object.fromEntries(entries), ...ownership.exemption.env };
  const runtimes = new Runtimes({ env, runDir, executables: findExecutables(options.executablesDir) });
  if (before) runtimes.restore(before);
  else for (const runtime of options.runtimes) addRuntime(runtimes, runtime);
  return runtimes;
}

function addRuntime(runtimes: Runtimes, { name, spec, origin }: DaemonOptions["runtimes"][number]): void {
  try {
    runtimes.add(name, spec);
  } catch (error) {
    throw new OptionError(`${origin} ${name}: ${(error as Error).message}`, true);
  }
}

/** The executables to provision remote machines with. A daemon that runs from source offers the last build. */
function findExecutables(directory: string | undefined): Executables {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  const built = join(dirname(Bun.main), "../dist");
  const own = isCompiled ? process.execPath : join(built, "trl");
  const dirs = [...(directory === undefined ? [] : [directory]), ...(isCompiled ? [] : [built])];
  return new Executables({ own: existsSync(own) ? own : undefined, dirs });
}
