// Writes what the core reports into the journal: commands, terminals and the owned processes. While a command or a
// terminal is young, the processes are listed more often: a process that detaches and clears its environment does so
// early, and without a mark only the journal identifies it.
import type { CommandRecord } from "../core/command/store.ts";
import { cleanupIntervalMs, youngCensusMs } from "../core/limits.ts";
import type { ProcessOwnership } from "../core/process/ownership.ts";
import type { RuntimeEvents } from "../core/session/events.ts";
import type { Terminal } from "../core/terminal/terminal.ts";
import { lostReason } from "../protocol/exec.ts";
import type { Journal } from "./journal.ts";
import type { EndedRecord, StartedRecord } from "./journal-record.ts";

export class RuntimeRecorder implements RuntimeEvents {
  #youngUntil = 0;
  #youngTimer: Timer | undefined;
  #isClosed = false;

  constructor(
    readonly ownership: ProcessOwnership,
    readonly journal: Journal,
  ) {}

  commandStarted(record: CommandRecord): void {
    this.#started(startedCommand(record));
  }

  commandEnded(record: CommandRecord): void {
    this.#ended(endedCommand(record));
  }

  terminalStarted(terminal: Terminal): void {
    this.#started(startedTerminal(terminal));
  }

  terminalEnded(terminal: Terminal): void {
    this.#ended(endedTerminal(terminal));
  }

  /** Does nothing without orphan adoption: listing processes means running ps(1) there. */
  processesChanged(): void {
    if (this.ownership.adoptsOrphans) this.journal.writeProcesses(this.ownership.pids());
  }

  closing(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }

  #started(record: StartedRecord): void {
    this.journal.write(record);
    if (this.ownership.adoptsOrphans && !this.#isClosed) this.#listOften();
  }

  #ended(record: EndedRecord): void {
    this.journal.write(record);
    if (this.ownership.adoptedCount > 0 && !this.#isClosed) this.processesChanged();
  }

  /** Until the youngest command or terminal is older than two housekeeping intervals. */
  #listOften(): void {
    this.#youngUntil = performance.now() + 2 * cleanupIntervalMs;
    this.#youngTimer ??= setInterval(() => {
      this.ownership.adoptAndReap();
      this.processesChanged();
      if (performance.now() >= this.#youngUntil) this.#stopTimer();
    }, youngCensusMs);
  }

  #stopTimer(): void {
    clearInterval(this.#youngTimer);
    this.#youngTimer = undefined;
  }
}

function startedCommand({ command, sessionId, kind }: CommandRecord): StartedRecord {
  const { id, pid, startedAt } = command;
  return { kind, id, sessionId, pid, startedAt: startedAt.getTime() };
}

function endedCommand(record: CommandRecord): EndedRecord {
  const { outcome, output } = record.command;
  const { exitCode, signal, reason, durationMs, receipt, failure } = outcome!;
  return {
    ...startedCommand(record),
    endedAt: record.endedAt!.getTime(),
    exitCode,
    signal,
    reason: failure === undefined ? reason : lostReason,
    durationMs,
    stdoutBytes: output.stdout.totalBytes,
    stderrBytes: output.stderr.totalBytes,
    receipt,
  };
}

function startedTerminal({ id, pid, createdAt, size, spec }: Terminal): StartedRecord {
  const driver = spec.driver.name;
  return { kind: "terminal", id, sessionId: id, pid, startedAt: createdAt.getTime(), ...size, driver };
}

function endedTerminal(terminal: Terminal): EndedRecord {
  const { createdAt, endedAt, exit, programEnd, ring } = terminal;
  return {
    ...startedTerminal(terminal),
    endedAt: endedAt!.getTime(),
    exitCode: exit!.exitCode,
    signal: exit!.signal,
    reason: programEnd.reason!,
    durationMs: Math.max(0, Math.round(endedAt!.steadyMs - createdAt.steadyMs)),
    stdoutBytes: ring.end,
    stderrBytes: 0,
    receipt: programEnd.receipt ?? null,
  };
}
