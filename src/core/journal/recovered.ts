// What is known of the commands and terminals of a daemon that was killed, for those who ask for them: for as long as
// what has ended is kept otherwise.
import { retainedSeconds } from "../limits.ts";
import type { EndedRecord } from "./record.ts";

export class Recovered {
  readonly #records: Map<string, EndedRecord>;
  /** Resolves when nothing of them is left. */
  cleared: Promise<void> = Promise.resolve();

  constructor(records: readonly EndedRecord[] = []) {
    this.#records = new Map(records.map((record) => [record.id, record]));
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
    const record = this.#records.get(id);
    if (!record || Date.now() - record.endedAt <= retainedSeconds * 1000) return record;
    this.#records.delete(id);
    return undefined;
  }
}
