// The commands and terminals of a killed daemon, for requests that ask for them. They are kept for `retainedSeconds`
// after their end, like commands of this daemon.
import { Instant, steadyMs } from "../core/lifetime/instant.ts";
import { retainedSeconds } from "../core/limits.ts";
import type { EndedRecord } from "./journal-record.ts";

export class Recovered {
  readonly #records: Map<string, { record: EndedRecord; endedMs: number }>;
  #cleanup: Promise<void> = Promise.resolve();

  constructor(records: readonly EndedRecord[] = []) {
    // Only the wall clock survives a reboot; ages are counted by the steady clock from here on.
    const known = (record: EndedRecord) => ({ record, endedMs: new Instant(record.endedAt).steadyMs });
    this.#records = new Map(records.map((record) => [record.id, known(record)]));
  }

  /** Resolves when all of their processes have ended. */
  get cleared(): Promise<void> {
    return this.#cleanup;
  }

  /** The cleanup of leftover processes has started; `cleared` waits for it. */
  cleanupStarted(cleanup: Promise<void>): void {
    this.#cleanup = cleanup;
  }

  command(id: string): EndedRecord | undefined {
    const record = this.#get(id);
    return record?.kind === "terminal" ? undefined : record;
  }

  terminal(id: string): EndedRecord | undefined {
    const record = this.#get(id);
    return record?.kind === "terminal" ? record : undefined;
  }

  list(): EndedRecord[] {
    return [...this.#records.keys()].flatMap((id) => this.#get(id) ?? []);
  }

  #get(id: string): EndedRecord | undefined {
    const { record, endedMs } = this.#records.get(id) ?? {};
    if (endedMs === undefined || steadyMs() - endedMs <= retainedSeconds * 1000) return record;
    this.#records.delete(id);
    return undefined;
  }
}
