// The boot story: one daemon per socket, a private directory, the sessions, the door, and a clean end. Where it takes the
// place of another program, the same with what that one has left.
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { hasFewProcesses } from "../core/isolation/few-processes-linux.ts";
import { Instant } from "../core/lifetime/instant.ts";
import { shutdownGraceMs } from "../core/limits.ts";
import type { Log } from "../core/log.ts";
import { SessionRegistry } from "../core/session/registry.ts";
import { takeOverCore } from "../core/session/upgrade-state.ts";
import { removeOwnDir } from "../platform/abandoned-dirs.ts";
import { restoreChildSignal } from "../platform/libc.ts";
import { prepareReadiness } from "../platform/linux/readiness.ts";
import { CrashRecovery, journalPath } from "../recovery/crash-recovery.ts";
import { Runtimes } from "../remote/runtimes.ts";
import { newCounters } from "../server/counters.ts";
import { capabilitiesOf } from "../server/handlers/system.ts";
import { holdAgain } from "../server/resume-points.ts";
import { describeDaemon } from "../upgrade/daemon-state.ts";
import type { RuntimesState } from "../upgrade/schema/document.ts";
import type { Received } from "../upgrade/state-file.ts";
import { keptInstance, type Takeover, welcome } from "../upgrade/takeover.ts";
import { Upgrader } from "../upgrade/upgrader.ts";
import { hasThreads, isOwnSetting, withoutThreads } from "../util/engine-settings.ts";
import { announcementsDirs } from "../util/runtime-dir.ts";
import { beside } from "../util/socket-path.ts";
import { trustedDirsVariable } from "../util/trusted-socket.ts";
import { version } from "../util/version.ts";
import { announceSelf } from "./announce.ts";
import { claimSocket } from "./claim-socket.ts";
import { daemonTag, stdioTag } from "./daemon-tag.ts";
import { untilIdle } from "./idle-exit.ts";
import type { InstanceLock } from "./instance-lock.ts";
import { openListeners, type Services, transportsOf } from "./listeners.ts";
import { createLog } from "./log.ts";
import { OptionError } from "./option-error.ts";
import type { DaemonOptions } from "./options.ts";
import { ownExecutables } from "./own-executables.ts";
import { makeRunDir } from "./run-dir.ts";
import { surviveBugs } from "./signals.ts";
import { makeSocketDir } from "./socket-file.ts";

export interface Daemon {
  /** Resolves when it has nothing more to do: its standard input has ended, where it speaks there. */
  readonly done: Promise<string>;
  /** Everything that was started is dead and every file removed when it resolves. */
  stop(why: string): Promise<void>;
  /** Its terminal is gone, or its program is another by now: true where it has an upgrade to do. */
  hungUp(): boolean;
}

/** Throws an OptionError where the daemon cannot be started as asked. */
export async function boot(options: DaemonOptions, arrival?: Takeover): Promise<Daemon> {
  prepareProcess();
  const log = createLog({ format: options.logFormat, isVerbose: options.isVerbose });
  if (!arrival) warnOfSurroundings(options, log);
  const { socketPath } = options;
  const { lock, runDir } = arrival ? keptInstance(arrival, socketPath) : await claimInstance(options, log);
  const release = () => {
    rmSync(runDir, { recursive: true, force: true });
    lock?.release();
    if (options.isForCaller) removeOwnDir(dirname(socketPath)); // who has made it may have been killed
  };
  try {
    const before = arrival?.received;
    const crash = new CrashRecovery(options, lock, log, before?.document.recovered);
    const rooms = createServices(options, runDir, crash, before);
    const { registry, runtimes, counters, upgrader, startedAt } = rooms;
    const { doors, done, ...opened } = openListeners(rooms, before?.document);
    if (before) holdAgain(registry.commands, before.document.heldPlaces);
    crash.endLeftovers(runDir);
    const { labels } = options;
    const told = {
      run_dir: runDir,
      http_url: opened.http?.url ?? null,
      labels,
      capabilities: capabilitiesOf({ registry, transports: transportsOf(options), labels }),
      started_at: startedAt.toISOString(),
    };
    const withdraw = announceSelf(options, told, log);
    const isBusy = () => counters.connections > 0 || registry.liveCount > 0;
    surviveBugs(log);
    const restarting = Promise.withResolvers<string>();
    let successor = () => {};
    upgrader.house = {
      ...{ registry, runtimes, doors, isStdin: options.isStdin },
      isClearing: () => crash.isClearing,
      describe: (packing) => describeDaemon({ ...rooms, ...opened, lock, runDir }, packing),
      restart(become) {
        successor = become;
        restarting.resolve("another program takes its place");
      },
    };
    const where = options.hasSocket ? { socket: socketPath } : {};
    if (!arrival) log.info("ready", { ...where, pid: process.pid, version });
    const stop = async (why: string) => {
      log.info("stopping", { why });
      upgrader.house = undefined;
      withdraw();
      try {
        for (const door of doors) door.stopAccepting();
        await Promise.all([registry.close(shutdownGraceMs), runtimes.close()]);
        await Promise.all(doors.map((door) => door.farewell()));
        await crash.close();
      } finally {
        release();
      }
      log.info("stopped");
      successor();
    };
    if (arrival) welcome(arrival, { upgrader, registry, log });
    await guardAgainstStalls(options);
    const ends = [done, untilIdle(options.idleExitS, isBusy), restarting.promise];
    return { done: Promise.race(ends), stop, hungUp: () => upgrader.hungUp() };
  } catch (error) {
    if (!arrival) release();
    throw error;
  }
}

/** Before anything is started or listened on. */
function prepareProcess(): void {
  restoreChildSignal();
  if (process.platform === "linux") prepareReadiness();
}

function warnOfSurroundings({ allowsRoot }: DaemonOptions, log: Log): void {
  if (process.getuid?.() === 0 && !allowsRoot) log.warn("running as root: every command is root's, too");
  if (process.platform !== "linux" || !hasThreads(process.env) || !hasFewProcesses()) return;
  const assignments = Object.entries(withoutThreads).map((entry) => entry.join("="));
  log.warn("few processes are allowed: a session that takes all of them can end the daemon", {
    set: assignments.join(" "),
  });
}

/** For tests. */
async function guardAgainstStalls({ env }: DaemonOptions): Promise<void> {
  if (!env["TRL_STALL_FILE"] || process.platform !== "linux") return;
  (await import("../platform/linux/stall-guard.ts")).guardAgainstStalls(env);
}

/** What the doors lead to: empty, or as another program has left it. */
function createServices(
  options: DaemonOptions,
  runDir: string,
  { journal, recovered, log }: CrashRecovery,
  before: Received | undefined,
): Services {
  const { core, runtimes: known, counters, startedAt, startedSteadyMs } = before?.document ?? {};
  const registry = new SessionRegistry(coreOptions(options, runDir), log, core, journal);
  const rooms = {
    ...{ options, registry, recovered, log },
    runtimes: knownRuntimes(options, registry, runDir, known),
    counters: newCounters(counters),
    upgrader: new Upgrader(log),
    startedAt: new Instant(startedAt, startedSteadyMs),
  };
  if (before) takeOverCore(registry, before.document.core, before.given);
  return rooms;
}

interface DaemonInstance {
  lock: InstanceLock | undefined;
  runDir: string;
}

async function claimInstance(options: DaemonOptions, log: Log): Promise<DaemonInstance> {
  if (options.socketDir) makeSocketDir(options.socketDir);
  const lock = options.hasSocket ? await claimSocket(options.socketPath, options.env, log) : undefined;
  try {
    return { lock, runDir: makeRunDir(options.runDir, options.env) };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** What they start for their links has our environment, less what is our own business. */
function knownRuntimes(
  options: DaemonOptions,
  { ownership }: SessionRegistry,
  runDir: string,
  before: RuntimesState | undefined,
): Runtimes {
  const isPassedOn = (name: string) => name === trustedDirsVariable || !isOwnSetting(name, options.env);
  const entries = Object.entries(options.env).filter(([name]) => isPassedOn(name));
  const env = { ...Object.fromEntries(entries), ...ownership.exemption.env };
  const runtimes = new Runtimes({ env, runDir, executables: ownExecutables(options.executablesDir) });
  if (before) runtimes.restore(before);
  for (const { name, spec, origin } of before ? [] : options.runtimes)
    addRuntime(`${origin} ${name}`, () => runtimes.add(name, spec));
  return runtimes;
}

function addRuntime(origin: string, add: () => void): void {
  try {
    add();
  } catch (error) {
    throw new OptionError(`${origin}: ${(error as Error).message}`, true);
  }
}

function coreOptions(options: DaemonOptions, runDir: string) {
  const { socketPath } = options;
  const place = options.hasSocket ? socketPath : stdioTag;
  const secretPaths = options.hasSocket
    ? [socketPath, beside(socketPath, ".token"), beside(socketPath, ".pid"), journalPath(socketPath)]
    : [];
  const runtimeDirs = runtimeDirsOf(options);
  return {
    ...options,
    runDir,
    secretPaths,
    runtimeDirs,
    defaultShell: options.shell,
    daemonTag: daemonTag(place),
  };
}

/** Also where others announce themselves that were not told what this one was. */
function runtimeDirsOf({ announcementsDir, env }: DaemonOptions): string[] {
  const usual = announcementsDirs({ ...env, TRL_RUNTIME_DIR: undefined });
  const all = [announcementsDir, ...announcementsDirs(env), ...usual].filter((dir) => dir !== undefined);
  return [...new Set(all)].map(dirname);
}
