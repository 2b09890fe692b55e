// Commands by id: those that run, and for a while those that have ended, for clients that come back.
import { TrlError } from "../../protocol/errors.ts";
import { retainedBytesMax, retainedCommandsMax, retainedSeconds } from "../limits.ts";
import type { Command } from "./command.ts";

export interface CommandRecord {
  command: Command;
  sessionId: string;
  kind: "run" | "stream";
  endedAt: Date | undefined;
}

export class CommandStore {
  /** Those that have ended in the order of their end, as a Map keeps them. */
  #records = new Map<string, CommandRecord>();

  add(record: CommandRecord): void {
    this.#records.set(record.command.id, record);
    void record.command.ended.then(() => {
      record.endedAt = new Date();
      this.#records.delete(record.command.id);
      this.#records.set(record.command.id, record);
      this.forgetOld();
    });
  }

  get(id: string): CommandRecord {
    const record = this.#records.get(id);
    if (!record) throw new TrlError("STREAM_NOT_FOUND", `there is no stream ${id.slice(0, 64)} (any more)`);
    return record;
  }

  list(): CommandRecord[] {
    return [...this.#records.values()];
  }

  /** Keeps to the bounds; what still runs is never forgotten, and what ended last only for its age. */
  forgetOld(): void {
    const ended = this.list().filter(({ endedAt }) => endedAt !== undefined);
    let bytes = ended.reduce((sum, record) => sum + heldBytes(record), 0);
    let count = ended.length;
    for (const record of ended) {
      const isOld = Date.now() - record.endedAt!.getTime() > retainedSeconds * 1000;
      const isTooMuch = count > retainedCommandsMax || (bytes > retainedBytesMax && count > 1);
      if (!isOld && !isTooMuch) return;
      this.#records.delete(record.command.id);
      bytes -= heldBytes(record);
      count--;
    }
  }
}

const heldBytes = ({ command: { output } }: CommandRecord) =>
  output.stdout.heldBytes + output.stderr.heldBytes;
