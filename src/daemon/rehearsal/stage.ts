// A daemon within the daemon, for its rehearsal: the same rooms and a door of the same kind, in a directory that is the
// daemon's own. No process is started for it, and nothing of it can be seen from outside.
import { mkdirSync, rmSync } from "node:fs";
import { Instant } from "../../core/instant.ts";
import { Journal } from "../../core/journal/journal.ts";
import { hasEnded } from "../../core/journal/record.ts";
import { Recovered } from "../../core/journal/recovered.ts";
import type { Log } from "../../core/log.ts";
import type { Machinery } from "../../core/machinery.ts";
import { Custody, type Look } from "../../core/process/custody.ts";
import type { Steps } from "../../core/process/slices.ts";
import type { PtyDriver } from "../../core/pty/driver.ts";
import { NativePty, nativeDriver } from "../../core/pty/native-driver.ts";
import { Screens } from "../../core/pty/screen/screens.ts";
import { Typing } from "../../core/pty/typing.ts";
import { SessionRegistry } from "../../core/session/registry.ts";
import { Runtimes } from "../../runtime/runtimes.ts";
import { newCounters } from "../../server/counters.ts";
import { serveUnix } from "../../server/unix.ts";
import { forOwnerAlone } from "../../util/private-files.ts";
import { dispatcherOf, type Rooms } from "../doors.ts";
import { Upgrader } from "../handover/upgrader.ts";
import { PlayedShell, PlayedTerminal } from "./played.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** None of the daemon's limits is to be met. */
const unlimited = {
  maxSessions: 2,
  maxIdleS: 0,
  sessionTtlS: 0,
  sessionMaxCommands: 0,
  sessionMaxProcesses: 0,
  memoryPressureMb: 0,
};

/** Whoever it is given is nobody. */
class NobodysCustody extends Custody {
  constructor() {
    super(false);
  }

  override *find(): Steps<Look> {
    yield;
    return { members: [], isCertain: true };
  }
}

/** No screen is looked at, and no process is started for one. */
class NoScreens extends Screens {
  override start(): void {}
}

export class Stage {
  /** Of its door. */
  readonly path: string;
  readonly #curtain = Promise.withResolvers<number>();
  readonly shell = new PlayedShell(this.#curtain.promise);
  readonly terminal = new PlayedTerminal(this.#curtain.promise);
  /** What is to be done to clear it, the last first. */
  readonly #clearing: (() => unknown)[] = [];

  constructor(rooms: Rooms, name: string) {
    const dir = `${rooms.registry.options.runDir}/rehearsal-${name}`;
    this.path = `${dir}/door`;
    try {
      this.#furnish(rooms, dir);
    } catch (error) {
      void this.close();
      throw error;
    }
  }

  #furnish({ options, registry: daemons, runtimes }: Rooms, dir: string): void {
    const remove = () => rmSync(dir, { recursive: true, force: true });
    this.#clearing.push(remove);
    remove(); // of a program before this one that could not
    forOwnerAlone(() => mkdirSync(dir));
    const journal = new Journal(`${dir}/journal`, silent);
    this.#clearing.push(() => journal.remove());
    journal.onRecord = (record) => {
      if (record.kind !== "terminal" && !hasEnded(record)) this.shell.sayBeforehand();
    };
    const core = { ...daemons.options, ...unlimited, runDir: dir };
    const registry = new SessionRegistry(core, silent, undefined, journal, this.#machinery());
    this.#clearing.push(() => registry.close(0));
    const counters = newCounters();
    const rooms = {
      ...{ registry, counters, log: silent, startedAt: new Instant() },
      options: { ...options, connectionLimits: { ...options.connectionLimits, sessions: 0, commands: 0 } },
      runtimes: new Runtimes(runtimes.context),
      recovered: new Recovered(),
      upgrader: new Upgrader(silent),
    };
    const door = serveUnix({
      ...{ path: this.path, dispatcher: dispatcherOf(rooms, () => false), counters, fd: undefined },
      maxLineBytes: options.maxLineBytes,
      maxConnections: Number.POSITIVE_INFINITY,
    });
    this.#clearing.push(
      () => this.terminal.close(),
      () => this.shell.close(),
      () => this.#curtain.resolve(0),
      () => door.cut(),
      () => door.stopAccepting(),
    );
  }

  #machinery(): Machinery {
    const driver: PtyDriver = {
      ...nativeDriver,
      spawn: (spec) => new NativePty(spec, this.terminal.start),
    };
    const custody = new NobodysCustody();
    return {
      custody,
      startShell: this.shell.start,
      drivers: { native: driver, "bun-pty": driver },
      typing: new Typing(),
      screens: new NoScreens(custody),
    };
  }

  /** Does what it can: its directory may have been taken away, and it is only a rehearsal. */
  async close(): Promise<void> {
    for (const clear of this.#clearing.splice(0).reverse()) {
      try {
        await clear();
      } catch {}
    }
  }
}
