// Commands by id: those that run, and for a while those that have ended, for clients that come back.
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
  /** For those who look at what runs. */
  text: string;
  kind: "run" | "stream";
}

export interface CommandRecord extends CommandDetails {
  /** The connection that has made the session, or the session: what is kept is divided among them. */
  owner: string;
  command: KnownCommand;
  endedAt: Instant | undefined;
  /** Resolves when the session has taken over what it changed; with where the session stands then. */
  settled: Promise<{ workingDir: string }>;
  /** The same, once it is known. */
  workingDir?: string;
  /** What it took when it ended. */
  keptBytes?: number;
}

/** Reported to a receiver outside of the core. */
export interface CommandEvents {
  commandStarted(record: CommandRecord): void;
  /** Also for each retained command that an upgrade hands over. */
  commandEnded(record: CommandRecord): void;
}

/** What an owner has of what is kept. */
interface Share {
  count: number;
  bytes: number;
}

export class CommandStore {
  readonly tally = new CommandTally();
  #running = new Map<string, CommandRecord>();
  /** In the order of their end, as a Map keeps them. */
  #ended = new Map<string, CommandRecord>();
  #endedBytes = 0;
  readonly #shares = new Map<string, Share>();
  readonly budget = new OutputBudget(Math.min(outputBytesMax, memoryLimit() / 8));
  /** No more are begun: another program is to take this one's place. */
  isClosed = false;

  constructor(readonly events: CommandEvents) {}

  add(record: CommandRecord, { id, ended }: Command): void {
    this.#running.set(id, record);
    this.budget.add(record.command.output);
    this.events.commandStarted(record);
    void ended.then(() => this.#end(record));
    void record.settled.then(({ workingDir }) => {
      record.workingDir = workingDir;
      // With the command itself its process, its pipes and all that watched them would be kept.
      record.command = new PastCommand(record.command);
    });
  }

  /** Those that run come with their sessions. */
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
      this.#keep(kept);
    }
  }

  has(id: string): boolean {
    return this.#running.has(id) || this.#ended.has(id);
  }

  /** Also by a command that has ended: who sends a request twice does not run it twice. */
  refuseTaken(id: string): void {
    if (!this.has(id)) return;
    throw new TrlError("INVALID_PARAMS", `command_id: there is a command ${id} already`);
  }

  get(id: string): CommandRecord {
    const record = this.#running.get(id) ?? this.#ended.get(id);
    if (!record) throw new TrlError("STREAM_NOT_FOUND", `there is no stream ${id.slice(0, 64)} (any more)`);
    return record;
  }

  /** Those that have ended first. */
  list(state?: "running" | "ended"): CommandRecord[] {
    return [
      ...(state === "running" ? [] : this.#ended.values()),
      ...(state === "ended" ? [] : this.#running.values()),
    ];
  }

  /** Keeps to the bounds. The owner that has most kept gives its oldest; what ended last goes only for its age. */
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

  #keep(record: CommandRecord): void {
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
    const { reason, exitCode, durationMs } = command.outcome!;
    const { stdout, stderr } = command.output;
    this.tally.add(reason, exitCode, durationMs, stdout.totalBytes + stderr.totalBytes);
    this.#running.delete(command.id);
    this.events.commandEnded(record);
    command.output.compact();
    this.#keep(record);
    this.forgetOld();
  }
}

/** What is told of a command line: its beginning, never half a character. */
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
