// Commands by id: running ones, and for a while ended ones, for clients that reconnect.

import { memoryLimit } from "../../platform/own-process.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { CommandStoreState, PastRecordState } from "../../upgrade/schema/commands.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import { Instant, steadyMs } from "../lifetime/instant.ts";
import {
  commandTextMaxChars,
  outputBytesMax,
  retainedBytesMax,
  retainedCommandsMax,
  retainedSeconds,
} from "../limits.ts";
import type { Command, KnownCommand } from "./command.ts";
import { CommandTally } from "./metrics.ts";
import { OutputBudget } from "./output-budget.ts";
import { PastCommand, packPast } from "./past-command.ts";

export interface CommandDetails {
  sessionId: string;
  sessionName: string | null;
  /** The command line as exec.list shows it. */
  text: string;
  kind: "run" | "stream";
}

export interface CommandRecord extends CommandDetails {
  /** The connection that created the session, or the session: owners share the limit for ended commands. */
  owner: string;
  command: KnownCommand;
  endedAt: Instant | undefined;
  /** Resolves with the session's directory once the session has the new shell state. */
  settled: Promise<{ workingDir: string }>;
  /** The result of `settled`. */
  workingDir?: string;
  /** Bytes of its output when it ended. */
  keptBytes?: number;
}

/** Ended commands of one owner. */
interface Share {
  count: number;
  bytes: number;
}

/** Reported to a receiver outside of the core. */
export interface CommandEvents {
  commandStarted(record: CommandRecord): void;
  /** Also for each retained command that an upgrade hands over. */
  commandEnded(record: CommandRecord): void;
}

export class CommandStore {
  readonly tally = new CommandTally();
  #running = new Map<string, CommandRecord>();
  /** Oldest first, which is the order of a Map. */
  #ended = new Map<string, CommandRecord>();
  #endedBytes = 0;
  readonly #shares = new Map<string, Share>();
  readonly budget = new OutputBudget(Math.min(outputBytesMax, memoryLimit() / 8));
  /** Refuses new commands: an upgrade is about to begin. */
  isClosed = false;

  constructor(readonly events: CommandEvents) {}

  add(record: CommandRecord, { id, ended }: Command): void {
    this.#running.set(id, record);
    this.budget.add(record.command.output);
    this.events.commandStarted(record);
    void ended.then(() => this.#end(record));
    void record.settled.then(({ workingDir }) => {
      record.workingDir = workingDir;
      // A reference to the command would keep its process, pipes and listeners in memory.
      record.command = new PastCommand(record.command);
    });
  }

  /** Ended commands; running ones are packed with their sessions. */
  pack(packing: Packing): CommandStoreState {
    return {
      ended: [...this.#ended.values()].map((record) => packRecord(record, packing)),
      tally: this.tally,
    };
  }

  takeOver({ ended, tally }: CommandStoreState, given: Unpacking): void {
    Object.assign(this.tally, tally);
    for (const { command: state, endedAt, endedSteadyMs, workingDir, ...known } of ended) {
      const command = PastCommand.from(state, given);
      const settled = Promise.resolve({ workingDir });
      const record = { ...known, command, workingDir, endedAt: new Instant(endedAt, endedSteadyMs), settled };
      const kept = { ...record, owner: record.sessionId };
      this.budget.add(command.output);
      this.events.commandEnded(kept);
      this.#retain(kept);
    }
  }

  has(id: string): boolean {
    return this.#running.has(id) || this.#ended.has(id);
  }

  /** Also for the id of an ended command, so that a request that is sent twice runs once. */
  refuseTaken(id: string): void {
    if (!this.has(id)) return;
    throw new TrlError("INVALID_PARAMS", `command_id: there is a command ${id} already`);
  }

  get(id: string): CommandRecord {
    const record = this.#running.get(id) ?? this.#ended.get(id);
    if (!record) throw new TrlError("STREAM_NOT_FOUND", `there is no stream ${id.slice(0, 64)} (any more)`);
    return record;
  }

  /** Ended commands first. */
  list(state?: "running" | "ended"): CommandRecord[] {
    return [
      ...(state === "running" ? [] : this.#ended.values()),
      ...(state === "ended" ? [] : this.#running.values()),
    ];
  }

  /** Applies the limits. The owner with most loses its oldest; the command that ended last expires by age only. */
  forgetOld(): void {
    const now = steadyMs();
    for (const record of this.#ended.values()) {
      if (now - record.endedAt!.steadyMs <= retainedSeconds * 1000) break;
      this.#forget(record);
    }
    while (this.#ended.size > 1) {
      if (this.#ended.size > retainedCommandsMax) this.#forget(this.#oldestOfLargest("count"));
      else if (this.#endedBytes > retainedBytesMax) this.#forget(this.#oldestOfLargest("bytes"));
      else return;
    }
  }

  #oldestOfLargest(measure: keyof Share): CommandRecord {
    let largest = 0;
    for (const share of this.#shares.values()) largest = Math.max(largest, share[measure]);
    let found: CommandRecord | undefined;
    for (const record of this.#ended.values()) {
      found = record;
      if (this.#shares.get(record.owner)![measure] === largest) break;
    }
    return found!;
  }

  #retain(record: CommandRecord): void {
    const bytes = record.command.output.heldBytes;
    record.keptBytes = bytes;
    this.#ended.set(record.command.id, record);
    this.#endedBytes += bytes;
    const share = this.#shares.get(record.owner) ?? { count: 0, bytes: 0 };
    this.#shares.set(record.owner, { count: share.count + 1, bytes: share.bytes + bytes });
  }

  #forget(record: CommandRecord): void {
    const { command, owner, keptBytes = 0 } = record;
    this.#ended.delete(command.id);
    this.budget.remove(command.output);
    this.#endedBytes -= keptBytes;
    const { count, bytes } = this.#shares.get(owner)!;
    if (count > 1) this.#shares.set(owner, { count: count - 1, bytes: bytes - keptBytes });
    else this.#shares.delete(owner);
  }

  #end(record: CommandRecord): void {
    const { command } = record;
    record.endedAt = new Instant();
    const { reason, exitCode, durationMs, failure } = command.outcome!;
    const { stdout, stderr } = command.output;
    this.#running.delete(command.id);
    this.events.commandEnded(record);
    // A command that never began may be sent again with the same id.
    if (failure !== undefined) {
      this.budget.remove(command.output);
      return;
    }
    this.tally.add(reason, exitCode, durationMs, stdout.totalBytes + stderr.totalBytes);
    command.output.compact();
    this.#retain(record);
    this.forgetOld();
  }
}

/** The beginning of a command line, without half a surrogate pair. */
export function shownText(command: string): string {
  if (command.length <= commandTextMaxChars) return command;
  return `${command.slice(0, commandTextMaxChars - 3).replace(/[\ud800-\udbff]$/, "")}...`;
}

export const detailsOf = ({ sessionId, sessionName, text, kind }: CommandDetails): CommandDetails => ({
  sessionId,
  sessionName,
  text,
  kind,
});

function packRecord(record: CommandRecord, packing: Packing): PastRecordState {
  const { command, endedAt, workingDir } = record;
  return {
    command: packPast(command, packing),
    ...detailsOf(record),
    endedAt: endedAt!.getTime(),
    endedSteadyMs: endedAt!.steadyMs,
    workingDir: workingDir ?? "/",
  };
}
