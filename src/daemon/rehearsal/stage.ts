// A daemon within the daemon, for its rehearsal: the same rooms and a door of the same kind, in a directory that is the
// daemon's own. No process is started for it, and nothing of it can be seen from outside.
import { mkdirSync, rmSync } from "node:fs";
import { Journal } from "../../core/journal/journal.ts";
import { hasEnded } from "../../core/journal/record.ts";
import { Recovered } from "../../core/journal/recovered.ts";
import type { Log } from "../../core/log.ts";
import type { Machinery } from "../../core/machinery.ts";
import { Custody } from "../../core/process/custody.ts";
import type { ProcessEntry } from "../../core/process/process-table.ts";
import type { PtyDriver } from "../../core/pty/driver.ts";
import { NativePty, nativeDriver } from "../../core/pty/native-driver.ts";
import { SessionRegistry } from "../../core/session/registry.ts";
import { Runtimes } from "../../runtime/runtimes.ts";
import { newCounters } from "../../server/counters.ts";
import type { Door } from "../../server/door.ts";
import { serveUnix } from "../../server/unix.ts";
import { forOwnerAlone } from "../../util/private-files.ts";
import { dispatcherOf, type Rooms } from "../doors.ts";
import { Upgrader } from "../handover/upgrader.ts";
import { PlayedShell, PlayedTerminal } from "./played.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** None of the daemon's limits is to be met. */
const unlimited = {
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

  override membersOf(): ProcessEntry[] {
    return [];
  }
}

export class Stage {
  /** Of its door. */
  readonly path: string;
  readonly #curtain = Promise.withResolvers<number>();
  readonly shell = new PlayedShell(this.#curtain.promise);
  readonly terminal = new PlayedTerminal(this.#curtain.promise);
  readonly #dir: string;
  readonly #journal: Journal;
  readonly #registry: SessionRegistry;
  readonly #door: Door;

  constructor({ options, registry, runtimes }: Rooms, name: string) {
    this.#dir = `${registry.options.runDir}/rehearsal-${name}`;
    this.path = `${this.#dir}/door`;
    forOwnerAlone(() => mkdirSync(this.#dir));
    const core = { ...registry.options, ...unlimited, runDir: this.#dir };
    this.#journal = new Journal(`${this.#dir}/journal`, silent);
    this.#journal.onRecord = (record) => {
      if (record.kind !== "terminal" && !hasEnded(record)) this.shell.sayBeforehand();
    };
    this.#registry = new SessionRegistry(core, silent, undefined, this.#journal, this.#machinery());
    try {
      this.#door = this.#openDoor({ options, runtimes });
    } catch (error) {
      void this.#registry.close(0);
      throw error;
    }
  }

  #openDoor({ options, runtimes }: Pick<Rooms, "options" | "runtimes">): Door {
    const counters = newCounters();
    const dispatcher = dispatcherOf(
      {
        ...{ options, counters, log: silent, registry: this.#registry, startedAt: new Date() },
        runtimes: new Runtimes(runtimes.context),
        recovered: new Recovered(),
        upgrader: new Upgrader(silent),
      },
      () => false,
    );
    const { maxLineBytes } = options;
    return serveUnix({
      ...{ path: this.path, dispatcher, counters, maxLineBytes },
      maxConnections: Number.POSITIVE_INFINITY,
      fd: undefined,
    });
  }

  #machinery(): Machinery {
    const driver: PtyDriver = {
      ...nativeDriver,
      spawn: (spec) => new NativePty(spec, this.terminal.start),
    };
    return {
      custody: new NobodysCustody(),
      startShell: this.shell.start,
      drivers: { native: driver, "bun-pty": driver },
      warmUpEmulator: async () => {},
    };
  }

  async close(): Promise<void> {
    this.#door.stopAccepting();
    this.#door.cut();
    this.#curtain.resolve(0);
    this.shell.close();
    this.terminal.close();
    await this.#registry.close(0);
    this.#journal.remove();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
