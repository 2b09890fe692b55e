// What is known of the commands and terminals of a daemon that was killed, for those who ask for them: for as long as
// what has ended is kept otherwise.
import { Instant, steadyMs } from "../core/lifetime/instant.ts";
import { retainedSeconds } from "../core/limits.ts";
import type { EndedRecord } from "./journal-record.ts";

export class Recovered {
  readonly #records: Map<string, { record: EndedRecord; endedMs: number }>;
  /** Resolves when nothing of them is left. */
  cleared: Promise<void> = Promise.resolve();

  constructor(records: readonly EndedRecord[] = []) {
    // No other clock than the wall's outlives the machine; from here on the steady one counts.
    const known = (record: EndedRecord) => ({ record, endedMs: new Instant(record.endedAt).steadyMs });
    this.#records = new Map(records.map((record) => [record.id, known(record)]));
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
