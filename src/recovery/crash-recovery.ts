// What a start does about an end that was none: the daemon before this one was killed. It reads what that one has noted,
// and, when the door is open, ends what it has left.
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { Log } from "../core/log.ts";
import type { InstanceLock } from "../daemon/instance-lock.ts";
import type { DaemonOptions } from "../daemon/options.ts";
import { beside } from "../util/socket-path.ts";
import { Journal } from "./journal.ts";
import { isLiving, type NotedDaemon } from "./journal-daemons.ts";
import { type EndedRecord, hasEnded, recordFrom } from "./journal-record.ts";
import { Leftovers } from "./leftovers.ts";
import { type FoundJournal, readJournal } from "./read-journal.ts";
import { Recovered } from "./recovered.ts";

type Options = Pick<DaemonOptions, "socketPath" | "hasSocket" | "hasJournal" | "isForCaller">;

export const journalPath = (socketPath: string): string => beside(socketPath, ".journal");

export class CrashRecovery {
  /** Undefined where none is kept. */
  readonly journal: Journal | undefined;
  /** What is known of the commands and terminals that were. */
  readonly recovered: Recovered;
  readonly #found: FoundJournal;
  readonly #predecessors: NotedDaemon[];
  readonly #isOurs: boolean;
  #leftovers: Leftovers | undefined;
  #isClearing = false;

  /** With the lock held: whoever had it before is dead. */
  constructor(
    readonly options: Options,
    lock: InstanceLock | undefined,
    readonly log: Log,
    /** Of one that was killed, as the program before us knew it. That one was not: what it has is ours. */
    known?: readonly unknown[],
  ) {
    const { hasJournal, socketPath } = options;
    const path = journalPath(socketPath);
    const isOurs = known !== undefined;
    this.#isOurs = isOurs;
    this.#found =
      hasJournal && !isOurs
        ? ofTheDead(readJournal(path, log), lock)
        : { records: endedIn(known ?? []), daemons: [], processes: [] };
    this.#predecessors = isOurs ? [] : predecessorsIn(this.#found, lock);
    this.recovered = new Recovered(this.#found.records);
    this.journal = hasJournal ? new Journal(path, log) : undefined;
    if (this.#found.records.length > 0 && !isOurs)
      log.warn("read the journal of a killed daemon", { records: this.#found.records.length });
  }

  /** When this daemon listens. A daemon that is only there for its caller leaves it to others. */
  endLeftovers(runDir: string): void {
    const { options, journal, log } = this;
    if (options.isForCaller) return;
    // Should this one be killed, too, its successor knows of them all.
    const { processes } = this.#found;
    journal?.inherit(this.#predecessors, processes);
    for (const record of this.#found.records) journal?.write(record);
    if (this.#isOurs) return;
    this.#isClearing = true;
    this.#leftovers = new Leftovers({
      socketPath: options.socketPath,
      predecessors: options.hasSocket ? this.#predecessors.map(({ pid }) => pid) : [],
      noted: processes,
      onFound: (found) => journal?.inherit(this.#predecessors, found),
      bases: [...new Set([dirname(runDir), tmpdir()])],
      log,
    });
    this.recovered.cleared = this.#leftovers.ended.then(() => {
      this.#isClearing = false;
      journal?.inherit([], []);
    });
  }

  /** What one that was killed has left is just being ended. */
  get isClearing(): boolean {
    return this.#isClearing;
  }

  /** An orderly end: nothing of those before is left, and nothing is to be known of this one. */
  async close(): Promise<void> {
    await this.#leftovers?.hurry();
    this.journal?.remove();
  }
}

/** The lock of one that is just dying is free before its process has ended. */
const isDead = (daemon: NotedDaemon, lock: InstanceLock | undefined): boolean =>
  daemon.pid === lock?.predecessor || !isLiving(daemon);

/** Its socket and its pid file may have been removed under a daemon: what it has noted is its own, and nothing is lost. */
function ofTheDead(found: FoundJournal, lock: InstanceLock | undefined): FoundJournal {
  const daemons = found.daemons.filter((daemon) => isDead(daemon, lock));
  const [writer] = found.daemons;
  return writer && !daemons.includes(writer)
    ? { records: [], daemons, processes: [] }
    : { ...found, daemons };
}

function predecessorsIn({ daemons }: FoundJournal, lock: InstanceLock | undefined): NotedDaemon[] {
  const pid = lock?.predecessor;
  const isNoted = pid === undefined || daemons.some((daemon) => daemon.pid === pid);
  return isNoted ? daemons : [{ pid, startTime: undefined }, ...daemons];
}

const endedIn = (known: readonly unknown[]): EndedRecord[] =>
  known.flatMap((value) => {
    const record = recordFrom(value);
    return record && hasEnded(record) ? record : [];
  });
