// From a command or a terminal to what is noted of it.
import type { CommandRecord } from "../core/command/store.ts";
import type { Terminal } from "../core/terminal/terminal.ts";
import type { EndedRecord, StartedRecord } from "./record.ts";

export function commandStarted({ command, sessionId, kind }: CommandRecord): StartedRecord {
  const { id, pid, startedAt } = command;
  return { kind, id, sessionId, pid, startedAt: startedAt.getTime() };
}

export function commandEnded(record: CommandRecord): EndedRecord {
  const { outcome, output } = record.command;
  const { exitCode, signal, reason, durationMs, receipt } = outcome!;
  return {
    ...commandStarted(record),
    endedAt: record.endedAt!.getTime(),
    exitCode,
    signal,
    reason,
    durationMs,
    stdoutBytes: output.stdout.totalBytes,
    stderrBytes: output.stderr.totalBytes,
    receipt,
  };
}

export function terminalStarted({ id, pid, createdAt, size, spec }: Terminal): StartedRecord {
  const driver = spec.driver.name;
  return { kind: "terminal", id, sessionId: id, pid, startedAt: createdAt.getTime(), ...size, driver };
}

export function terminalEnded(terminal: Terminal): EndedRecord {
  const { createdAt, endedAt, exit, programEnd, ring } = terminal;
  return {
    ...terminalStarted(terminal),
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
