// Crash recovery at the start of a daemon: reads the journal of a killed predecessor, and ends its leftover processes
// once this daemon listens. Opens the journal of this daemon.
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { Log } from "../core/log.ts";
import type { ProcessOwnership } from "../core/process/ownership.ts";
import type { TimeSlicer } from "../core/process/time-slicer.ts";
import type { RuntimeEvents } from "../core/session/events.ts";
import { beside } from "../util/socket-path.ts";
import { Journal } from "./journal.ts";
import { isRunning, type JournaledDaemon } from "./journal-daemons.ts";
import { type EndedRecord, hasEnded, recordFrom } from "./journal-record.ts";
import { Leftovers } from "./leftovers.ts";
import { type JournalContents, readJournal } from "./read-journal.ts";
import { Recovered } from "./recovered.ts";
import { RuntimeRecorder } from "./runtime-recorder.ts";

export interface CrashRecoveryOptions {
  socketPath: string;
  hasSocket: boolean;
  hasJournal: boolean;
  /** A temporary daemon of one caller leaves the cleanup to other daemons. */
  isForCaller: boolean;
}

export const journalPath = (socketPath: string): string => beside(socketPath, ".journal");

export class CrashRecovery {
  /** The commands and terminals of the killed daemon. */
  readonly recovered: Recovered;
  readonly #journal: Journal | undefined;
  readonly #found: JournalContents;
  readonly #predecessors: JournaledDaemon[];
  readonly #isTakeover: boolean;
  #leftovers: Leftovers | undefined;
  #isClearing = false;

  /**
   * Must run while this daemon holds the instance lock. `lockPredecessor` is the pid of the last holder if that one was
   * killed. `restored` are the recovered records from the state file of an upgrade: then this process has the journal
   * and the processes already, and there is no predecessor.
   */
  constructor(
    readonly options: CrashRecoveryOptions,
    lockPredecessor: number | undefined,
    readonly log: Log,
    restored?: readonly unknown[],
  ) {
    const { hasJournal, socketPath } = options;
    const path = journalPath(socketPath);
    const isTakeover = restored !== undefined;
    this.#isTakeover = isTakeover;
    this.#found =
      hasJournal && !isTakeover
        ? ofDeadDaemons(readJournal(path, log), lockPredecessor)
        : { records: endedIn(restored ?? []), daemons: [], processes: [] };
    this.#predecessors = isTakeover ? [] : predecessorsIn(this.#found, lockPredecessor);
    this.recovered = new Recovered(this.#found.records);
    this.#journal = hasJournal ? new Journal(path, log) : undefined;
    if (this.#found.records.length > 0 && !isTakeover)
      log.warn("read the journal of a killed daemon", { records: this.#found.records.length });
  }

  /** Records the events of the core in the journal. Undefined if there is no journal. */
  recorder(ownership: ProcessOwnership): RuntimeEvents | undefined {
    return this.#journal && new RuntimeRecorder(ownership, this.#journal);
  }

  /** To be called when this daemon listens. */
  endLeftovers(runDir: string, slicer: TimeSlicer): void {
    const { options, log } = this;
    const journal = this.#journal;
    if (options.isForCaller) return;
    // If this daemon is killed too, its successor finds the same records and processes.
    const { processes } = this.#found;
    journal?.inherit(this.#predecessors, processes);
    for (const record of this.#found.records) journal?.write(record);
    if (this.#isTakeover) return;
    this.#isClearing = true;
    this.#leftovers = new Leftovers({
      socketPath: options.socketPath,
      predecessors: options.hasSocket ? this.#predecessors.map(({ pid }) => pid) : [],
      journaled: processes,
      onFound: (found) => journal?.inherit(this.#predecessors, found),
      bases: [...new Set([dirname(runDir), tmpdir()])],
      slicer,
      log,
    });
    const cleared = this.#leftovers.ended.then(() => {
      this.#isClearing = false;
      journal?.inherit([], []);
    });
    this.recovered.cleanupStarted(cleared);
  }

  /** The leftovers of a killed daemon are being ended. */
  get isClearing(): boolean {
    return this.#isClearing;
  }

  /** For an orderly shutdown: ends all leftovers and removes the journal. */
  async close(): Promise<void> {
    await this.#leftovers?.hurry();
    this.#journal?.remove();
  }
}

/** The kernel releases the lock of a dying process before the process has ended. */
const isDead = (daemon: JournaledDaemon, lockPredecessor: number | undefined): boolean =>
  daemon.pid === lockPredecessor || !isRunning(daemon);

/**
 * The writer of the journal may still run: its socket and its pid file were removed, and this daemon took the lock.
 * Then its records are not lost, and its processes must stay untouched.
 */
function ofDeadDaemons(found: JournalContents, lockPredecessor: number | undefined): JournalContents {
  const daemons = found.daemons.filter((daemon) => isDead(daemon, lockPredecessor));
  const [writer] = found.daemons;
  return writer && !daemons.includes(writer)
    ? { records: [], daemons, processes: [] }
    : { ...found, daemons };
}

function predecessorsIn(
  { daemons }: JournalContents,
  lockPredecessor: number | undefined,
): JournaledDaemon[] {
  const isListed = lockPredecessor === undefined || daemons.some((daemon) => daemon.pid === lockPredecessor);
  return isListed ? daemons : [{ pid: lockPredecessor, startTime: undefined }, ...daemons];
}

const endedIn = (restored: readonly unknown[]): EndedRecord[] =>
  restored.flatMap((value) => {
    const record = recordFrom(value);
    return record && hasEnded(record) ? record : [];
  });
