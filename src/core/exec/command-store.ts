// Commands by id: those that run, and for a while those that have ended, for clients that come back.
import { TrlError } from "../../protocol/errors.ts";
import type { CommandStoreState, PastRecordState } from "../../protocol/handover/exec.ts";
import type { Packing, Unpacking } from "../../protocol/handover/pieces.ts";
import { Instant, steadyMs } from "../instant.ts";
import type { Journal } from "../journal/journal.ts";
import { commandEnded, commandStarted } from "../journal/notes.ts";
import { commandTextMaxChars, retainedBytesMax, retainedCommandsMax, retainedSeconds } from "../limits.ts";
import type { Command, KnownCommand } from "./command.ts";
import { PastCommand, packPast } from "./past-command.ts";
import { CommandTally } from "./tally.ts";

export interface CommandDetails {
  sessionId: string;
  sessionName: string | null;
  /** For those who look at what runs. */
  text: string;
  kind: "run" | "stream";
}

export interface CommandRecord extends CommandDetails {
  command: KnownCommand;
  endedAt: Instant | undefined;
  /** Resolves when the session has taken over what it changed; with where the session stands then. */
  settled: Promise<{ workingDir: string }>;
  /** The same, once it is known. */
  workingDir?: string;
}

export class CommandStore {
  readonly tally = new CommandTally();
  #running = new Map<string, CommandRecord>();
  /** In the order of their end, as a Map keeps them. */
  #ended = new Map<string, CommandRecord>();
  #endedBytes = 0;
  /** No more are begun: another program is to take this one's place. */
  isClosed = false;

  constructor(readonly journal?: Journal) {}

  add(record: CommandRecord, { id, ended }: Command): void {
    this.#running.set(id, record);
    this.journal?.write(commandStarted(record));
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
      this.#ended.set(command.id, record);
      this.journal?.write(commandEnded(record));
      this.#endedBytes += heldBytes(record);
    }
  }

  get runningCount(): number {
    return this.#running.size;
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

  /** Keeps to the bounds; what ended last is forgotten only for its age. */
  forgetOld(): void {
    const now = steadyMs();
    for (const [id, record] of this.#ended) {
      const isOld = now - record.endedAt!.steadyMs > retainedSeconds * 1000;
      const isTooMuch = this.#ended.size > retainedCommandsMax || this.#endedBytes > retainedBytesMax;
      if (!isOld && !(isTooMuch && this.#ended.size > 1)) return;
      this.#ended.delete(id);
      this.#endedBytes -= heldBytes(record);
    }
  }

  #end(record: CommandRecord): void {
    const { command } = record;
    record.endedAt = new Instant();
    const { reason, exitCode, durationMs } = command.outcome!;
    const { stdout, stderr } = command.output;
    this.tally.add(reason, exitCode, durationMs, stdout.totalBytes + stderr.totalBytes);
    this.#running.delete(command.id);
    this.#ended.set(command.id, record);
    this.journal?.write(commandEnded(record));
    command.output.compact();
    this.#endedBytes += heldBytes(record);
    this.forgetOld();
  }
}

/** What is told of a command line: its beginning, never half a character. */
export function shownText(command: string): string {
  if (command.length <= commandTextMaxChars) return command;
  return `${command.slice(0, commandTextMaxChars - 3).replace(/[\ud800-\udbff]$/, "")}...`;
}

const heldBytes = ({ command: { output } }: CommandRecord) =>
  output.stdout.heldBytes + output.stderr.heldBytes;

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
