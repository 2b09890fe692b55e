// The daemon's way to its successor: it is tried, what cannot cross is waited for, clients are let go (they come back by
// themselves), and in one moment in which nothing moves everything is written down and this process becomes the other
// program. Where that fails, all goes on as it was.
import { closeSync, openSync } from "node:fs";
import type { Log } from "../core/log.ts";
import type { SessionRegistry } from "../core/session/registry.ts";
import { become } from "../platform/exec.ts";
import { isTerminal } from "../platform/libc.ts";
import { type BlockedSignals, holdSignals } from "../platform/linux/held-signals.ts";
import { keepAcrossExec } from "../platform/linux/inheritance.ts";
import { ownFile } from "../platform/linux/own-file.ts";
import { leaveGoneDirectory, ownArgv, ownWords, programInPlace } from "../platform/linux/own-program.ts";
import { TrlError } from "../protocol/errors.ts";
import type { LastUpgrade, UpgradeParams, UpgradeResult } from "../protocol/system.ts";
import type { Runtimes } from "../remote/runtimes.ts";
import type { Upgrading } from "../server/handlers/handlers.ts";
import type { Listener } from "../server/transports/listener.ts";
import { version } from "../util/version.ts";
import { bootstrapVariable, type Delivery } from "./bootstrap-environment.ts";
import { requireProgram, tryProgram } from "./check-executable.ts";
import { canHandOver, drain, obstacles } from "./drain.ts";
import type { Handover } from "./schema/document.ts";
import type { Packing } from "./schema/fields.ts";
import { StateFile, trialPacking } from "./state-file.ts";

const defaultDrainTimeoutS = 60;
/** For the last replies and output to leave: a client that is slower finds the rest where it was. */
const flushMs = 2000;
/** What is just ending, or being made, is waited for: a command that does not end by SIGTERM takes 2 s. */
const restPatienceMs = 10_000;
const unrest = "something that is just ending or being made does not come to an end";

/** What there is to hand over. */
export interface UpgradeServices {
  registry: SessionRegistry;
  runtimes: Runtimes;
  doors: Listener[];
  /** A daemon at the other end of a pipe has a client that cannot come back. */
  isStdin: boolean;
  /** What a daemon that was killed has left is just being ended: the program that comes would not know of it. */
  isClearing(): boolean;
  describe(packing: Packing): Handover;
  /** Where nothing can be handed over: ends everything, and begins again as the other program. */
  restart(become: () => void): void;
}

export class Upgrader implements Upgrading {
  count = 0;
  last: LastUpgrade | null = null;
  house: UpgradeServices | undefined;
  #isBusy = false;
  /** Its end is the end of the daemon, whatever lies where its program was. */
  readonly #hasTerminal = [0, 1, 2].some(isTerminal);

  constructor(readonly log: Log) {}

  async begin(params: UpgradeParams, afterReply: (action: () => void) => void): Promise<UpgradeResult> {
    const { executable, drain_timeout_s = defaultDrainTimeoutS } = params;
    requireProgram(executable);
    const house = this.#enter();
    try {
      leaveGoneDirectory();
      const toVersion = await tryProgram(
        { path: executable, words: ownWords() },
        house.describe(trialPacking),
        house.registry.ownership,
      );
      afterReply(() => void this.#carryOut(house, executable, toVersion, drain_timeout_s));
      const waits_for = obstacles(house.registry, house.runtimes);
      return { pid: process.pid, from_version: version, to_version: toVersion, waits_for };
    } catch (error) {
      this.#isBusy = false;
      this.#failed(null, (error as Error).message);
      throw error;
    }
  }

  /** On SIGHUP: to the program that is now where ours was. False where that is ours. */
  hungUp(): boolean {
    if (this.#hasTerminal || !this.house) return false;
    const inPlace = programInPlace();
    if (inPlace === "ours") return false;
    if (inPlace === "nothing") {
      // A package that is just being replaced: whoever does that has not asked for our end.
      this.#failed(null, "on SIGHUP there was no program where this one was started from");
      return true;
    }
    if (this.#isBusy) this.log.info("SIGHUP changes nothing: an upgrade is on its way already");
    else void this.#beginByItself(inPlace.path);
    return true;
  }

  async #beginByItself(executable: string): Promise<void> {
    const before = this.last;
    try {
      await this.begin({ executable }, (action) => action());
    } catch (error) {
      if (this.last === before) this.#failed(null, (error as Error).message); // else it has been told
    }
  }

  #enter(): UpgradeServices {
    if (this.#isBusy || !this.house) throw new TrlError("SESSION_BUSY", "an upgrade is on its way already");
    if (this.house.isStdin)
      throw new TrlError("UNSUPPORTED", "a daemon on standard input has a client that could not come back");
    this.#isBusy = true;
    return this.house;
  }

  async #carryOut(
    house: UpgradeServices,
    executable: string,
    toVersion: string,
    drainS: number,
  ): Promise<void> {
    try {
      const inTheWay = await drain(house.registry, house.runtimes, drainS);
      if (inTheWay) throw new Error(`after ${drainS} s ${inTheWay}`);
      this.log.info("upgrading", { from: version, to: toVersion, executable });
      if (canHandOver) await this.#handOver(house, executable, toVersion);
      else house.restart(() => become({ path: executable, argv: [executable, ...ownWords()], env: {} }));
    } catch (error) {
      this.#failed(toVersion, (error as Error).message);
    } finally {
      this.#isBusy = false;
    }
  }

  /** Comes back only by throwing. */
  async #handOver(house: UpgradeServices, executable: string, toVersion: string): Promise<never> {
    const { registry, doors } = house;
    const settle = () => {
      registry.rest();
      return registry.isAtRest && !house.isClearing();
    };
    try {
      for (const door of doors) door.listening?.pause();
      for (const door of doors) door.stopStreaming();
      await within(flushMs, () => !doors.some(({ isSending }) => isSending));
      for (const door of doors) door.closeConnections();
      if (!(await within(restPatienceMs, settle))) throw new Error(unrest);
      using signals = holdSignals();
      // A signal that came before that is heard in the turn that this waits for.
      if (!(await within(flushMs, settle))) throw new Error(unrest);
      if (this.house !== house) throw new Error("the daemon is being stopped");
      crossOver(house, executable, signals);
      throw new Error(`${executable} (trl ${toVersion}) could not be started`);
    } finally {
      registry.goOn();
      if (this.house === house) for (const door of doors) door.listening?.resume();
    }
  }

  #failed(toVersion: string | null, reason: string): void {
    this.log.error("the upgrade failed; the daemon goes on as it was", {
      from: version,
      to: toVersion,
      reason,
    });
    const at = new Date().toISOString();
    this.last = { at, from_version: version, to_version: toVersion, ok: false, reason };
  }

  /** In the program that has come, or is back. */
  arrived({ kind, version: from, failure, failedVersion }: Delivery, countBefore: number): void {
    this.count = countBefore + (kind === "forth" ? 1 : 0);
    const at = new Date().toISOString();
    if (kind === "forth") this.last = { at, from_version: from, to_version: version, ok: true, reason: null };
    else this.#failed(failedVersion ?? null, failure ?? "it did not start");
  }
}

/** Nothing else happens from its first line to its last, and it comes back only where it failed. */
function crossOver(house: UpgradeServices, executable: string, signals: BlockedSignals): void {
  const programFd = openSync(ownFile, "r");
  let parcel: StateFile | undefined;
  try {
    parcel = new StateFile();
    const sealed = parcel.seal(house.describe(parcel));
    const letter: Delivery = { kind: "forth", ...sealed, programFd, argv: ownArgv(), version };
    keepAcrossExec(programFd, true);
    leaveGoneDirectory();
    const env = { [bootstrapVariable]: JSON.stringify(letter) };
    signals.carryOver();
    become({ path: executable, argv: [executable, ...ownWords()], env });
  } finally {
    parcel?.takeBack();
    closeSync(programFd);
  }
}

/** Looked at in a turn of its own: whatever has come before has been dealt with. */
async function within(ms: number, isSo: () => boolean): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (;;) {
    await Bun.sleep(1);
    if (isSo()) return true;
    if (performance.now() > deadline) return false;
  }
}
