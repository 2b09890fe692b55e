// What a start does about an end that was none: the daemon before this one was killed. It reads what that one has noted,
// and, when the door is open, ends what it has left.
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { Journal } from "../core/journal/journal.ts";
import { type FoundJournal, readJournal } from "../core/journal/read-journal.ts";
import { Recovered } from "../core/journal/recovered.ts";
import type { Log } from "../core/log.ts";
import { beside } from "../util/socket-path.ts";
import type { InstanceLock } from "./instance-lock.ts";
import { Leftovers } from "./leftovers.ts";
import type { DaemonOptions } from "./options.ts";

type Options = Pick<DaemonOptions, "socketPath" | "hasSocket" | "hasJournal" | "isForCaller">;

export const journalPath = (socketPath: string): string => beside(socketPath, ".journal");

export class CrashRecovery {
  /** Undefined where none is kept. */
  readonly journal: Journal | undefined;
  /** What is known of the commands and terminals that were. */
  readonly recovered: Recovered;
  readonly #found: FoundJournal;
  readonly #predecessors: number[];
  #leftovers: Leftovers | undefined;

  /** With the lock held: whoever had it before is dead. */
  constructor(
    readonly options: Options,
    lock: InstanceLock | undefined,
    readonly log: Log,
  ) {
    const { hasJournal, socketPath } = options;
    const path = journalPath(socketPath);
    this.#found = hasJournal ? readJournal(path, log) : { records: [], daemons: [], processes: [] };
    this.#predecessors = [...new Set([lock?.predecessor ?? [], this.#found.daemons].flat())];
    this.recovered = new Recovered(this.#found.records);
    this.journal = hasJournal ? new Journal(path, log) : undefined;
    if (this.#found.records.length > 0)
      log.warn("read the journal of a killed daemon", { records: this.#found.records.length });
  }

  /** When this daemon listens. A daemon that is only there for its caller leaves it to others. */
  endLeftovers(runDir: string): void {
    const { options, journal, log } = this;
    if (options.isForCaller) return;
    // Should this one be killed, too, its successor knows of them all.
    if (this.#predecessors.length > 0 && journal) journal.predecessors = this.#predecessors;
    for (const record of this.#found.records) journal?.write(record);
    this.#leftovers = new Leftovers({
      socketPath: options.socketPath,
      predecessors: options.hasSocket ? this.#predecessors : [],
      noted: this.#found.processes,
      bases: [...new Set([dirname(runDir), tmpdir()])],
      log,
    });
    void this.#leftovers.ended.then(() => {
      if (this.#predecessors.length > 0 && journal) journal.predecessors = [];
    });
  }

  /** An orderly end: nothing of those before is left, and nothing is to be known of this one. */
  async close(): Promise<void> {
    await this.#leftovers?.hurry();
    this.journal?.remove();
  }
}
