// Upgrades the running daemon to another executable: checks it, drains what cannot be handed over, closes the client
// connections (clients reconnect), waits until no state is changing, and execs. If any step fails, the daemon continues.
import type { Log } from "../core/log.ts";
import { isTerminal } from "../platform/libc.ts";
import { holdSignals } from "../platform/linux/held-signals.ts";
import { installedProgram, leaveDeletedDirectory, ownArguments } from "../platform/own-program.ts";
import { TrlError } from "../protocol/errors.ts";
import type { LastUpgrade, UpgradeParams, UpgradeResult } from "../protocol/system.ts";
import type { Upgrading } from "../server/handlers/handlers.ts";
import { version } from "../util/version.ts";
import type { TakeoverEnvironment } from "./bootstrap-environment.ts";
import { type CheckedExecutable, checkExecutable, requireProgram } from "./check-executable.ts";
import { canHandOver, drain, obstacles } from "./drain.ts";
import { execFresh, execWithState } from "./exec.ts";
import { type DaemonState, serializeDaemon } from "./serialize/daemon-state.ts";
import { trialPacking } from "./serialize/state-file.ts";

const defaultDrainTimeoutS = 60;
/** For the last replies and output. A slower client gets the rest from its resume point. */
const flushTimeoutMs = 2000;
/** For commands and sessions that are ending or starting; a command that ignores SIGTERM takes 2 s to end. */
const settleTimeoutMs = 10_000;
const notSettled = "a command or a session that is ending or starting does not finish";

export interface UpgradeServices extends DaemonState {
  /** The environment of this process, which the new executable gets as well. */
  env: Record<string, string | undefined>;
  /** A daemon on standard input has a client that cannot reconnect. */
  isStdin: boolean;
  /** True while leftovers of a killed daemon are being ended: the new executable would not know of them. */
  isClearing(): boolean;
  /** Where nothing can be handed over: stops the daemon, then calls `exec`. */
  restart(exec: () => void): void;
}

export class Upgrader implements Upgrading {
  count = 0;
  last: LastUpgrade | null = null;
  #state: "idle" | "upgrading" | "stopped" = "idle";
  /** On a terminal SIGHUP means that the terminal is gone, so it never starts an upgrade. */
  readonly #hasTerminal = [0, 1, 2].some(isTerminal);

  constructor(
    readonly services: UpgradeServices,
    readonly log: Log,
  ) {}

  async begin(params: UpgradeParams, afterReply: (action: () => void) => void): Promise<UpgradeResult> {
    const { executable, drain_timeout_s = defaultDrainTimeoutS } = params;
    requireProgram(executable);
    this.#enter();
    const { services } = this;
    try {
      leaveDeletedDirectory();
      const checked = await checkExecutable(
        { path: executable, words: ownArguments(), env: services.env },
        serializeDaemon(services, this.count, trialPacking),
        services.registry.ownership,
      );
      afterReply(() => void this.#carryOut(checked, drain_timeout_s));
      const waits_for = obstacles(services.registry, services.runtimes);
      return { pid: process.pid, from_version: version, to_version: checked.version, waits_for };
    } catch (error) {
      this.#leave();
      this.#failed(null, (error as Error).message);
      throw error;
    }
  }

  /**
   * On SIGHUP: upgrades to the executable that is now at the path of this one. False if that is this one, so that
   * SIGHUP ends the daemon.
   */
  hungUp(): boolean {
    if (this.#hasTerminal || this.#state === "stopped") return false;
    const installed = installedProgram();
    if (installed === "unchanged") return false;
    if (installed === "missing") {
      // A package manager may be replacing the file: the signal does not ask the daemon to end.
      this.#failed(null, "on SIGHUP there was no program where this one was started from");
      return true;
    }
    if (this.#state === "upgrading") this.log.info("SIGHUP is ignored: an upgrade is in progress");
    else void this.#beginOnHangup(installed.path);
    return true;
  }

  /** The daemon is stopping: no upgrade starts from here on, and one in progress fails before the exec. */
  stop(): void {
    this.#state = "stopped";
  }

  /** In the restored daemon, after a takeover or a rollback. */
  recordTakeover(environment: TakeoverEnvironment, countBefore: number): void {
    const { kind, version: from_version, failure, failedVersion } = environment;
    this.count = countBefore + (kind === "forth" ? 1 : 0);
    if (kind === "back") this.#failed(failedVersion ?? null, failure ?? "it did not start");
    else this.last = { at: now(), from_version, to_version: version, ok: true, reason: null };
  }

  async #beginOnHangup(executable: string): Promise<void> {
    const before = this.last;
    try {
      await this.begin({ executable }, (action) => action());
    } catch (error) {
      if (this.last === before) this.#failed(null, (error as Error).message); // otherwise `begin` has recorded it
    }
  }

  #enter(): void {
    if (this.#state === "upgrading") throw new TrlError("SESSION_BUSY", "an upgrade is in progress");
    if (this.#state === "stopped") throw new TrlError("SESSION_BUSY", "the daemon is stopping");
    if (this.services.isStdin)
      throw new TrlError("UNSUPPORTED", "a daemon on standard input has a client that cannot reconnect");
    this.#state = "upgrading";
  }

  #leave(): void {
    if (this.#state === "upgrading") this.#state = "idle";
  }

  async #carryOut(executable: CheckedExecutable, drainS: number): Promise<void> {
    const { registry, runtimes } = this.services;
    const { path, version: toVersion } = executable;
    try {
      const obstacle = await drain(registry, runtimes, drainS);
      if (obstacle) throw new Error(`after ${drainS} s ${obstacle}`);
      this.log.info("upgrading", { from: version, to: toVersion, executable: path });
      if (canHandOver) await this.#handOver(executable);
      else this.services.restart(() => execFresh(path));
    } catch (error) {
      this.#failed(toVersion, (error as Error).message);
    } finally {
      this.#leave();
    }
  }

  /** Returns only by throwing. */
  async #handOver(executable: CheckedExecutable): Promise<never> {
    const { services } = this;
    const { registry, listeners } = services;
    const isSettled = () => {
      registry.prepareUpgrade();
      return registry.isAtRest && !services.isClearing();
    };
    try {
      await closeConnections(listeners.all);
      if (!(await within(settleTimeoutMs, isSettled))) throw new Error(notSettled);
      using signals = holdSignals();
      // A signal that came before `holdSignals` is handled in the turn of the event loop that this waits for.
      if (!(await within(flushTimeoutMs, isSettled))) throw new Error(notSettled);
      if (this.#state === "stopped") throw new Error("the daemon is being stopped");
      execWithState(services, this.count, executable, signals);
      throw new Error(`${executable.path} (trl ${executable.version}) could not be started`);
    } finally {
      registry.cancelUpgrade();
      // A stopping daemon accepts no connections.
      if (this.#state !== "stopped") for (const { listening } of listeners.all) listening?.resume();
    }
  }

  #failed(toVersion: string | null, reason: string): void {
    this.log.error("the upgrade failed; the daemon continues unchanged", {
      from: version,
      to: toVersion,
      reason,
    });
    this.last = { at: now(), from_version: version, to_version: toVersion, ok: false, reason };
  }
}

const now = () => new Date().toISOString();

/** New connections wait in the backlog of the listening sockets, which the new executable inherits. */
async function closeConnections(listeners: UpgradeServices["listeners"]["all"]): Promise<void> {
  for (const { listening } of listeners) listening?.pause();
  for (const listener of listeners) listener.stopStreaming();
  await within(flushTimeoutMs, () => !listeners.some(({ isSending }) => isSending));
  for (const listener of listeners) listener.closeConnections();
}

/** Checks in a turn of the event loop of its own, after all callbacks that were due before. */
async function within(timeoutMs: number, condition: () => boolean): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    await Bun.sleep(1);
    if (condition()) return true;
    if (performance.now() > deadline) return false;
  }
}
