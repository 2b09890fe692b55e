// Commands of a daemon that was killed.

import { TrlError } from "../../protocol/errors.ts";
import {
  type Encoding,
  type ExitFrame,
  isTimeout,
  type LostError,
  lostReason,
  omissionMarker,
  type RunResult,
  type StreamSummary,
} from "../../protocol/exec.ts";
import type { Receipt } from "../../protocol/isolation.ts";
import type { Params } from "../../protocol/methods.ts";
import { hostRuntime } from "../../protocol/runtime.ts";
import type { EndedRecord } from "../../recovery/journal-record.ts";
import { concluded } from "./exec.ts";
import { refuseBeyondEnd } from "./exec-attachments.ts";
import type { HandlerServices } from "./handlers.ts";
import { type Recovering, sendLast } from "./recovered-answers.ts";

export function recoveredCommandHandlers({ recovered, registry: { commands } }: HandlerServices) {
  const find = (id: string) => (commands.has(id) ? undefined : recovered.command(id));
  const refuseTaken = ({ command_id: id }: { command_id?: string | undefined }) => {
    if (id === undefined || !find(id)) return undefined;
    throw new TrlError("INVALID_PARAMS", `command_id: there is a command ${id} already`);
  };
  const methods: Recovering = {
    "exec.run": refuseTaken,
    "exec.stream": refuseTaken,

    "exec.wait": ({ stream_id, check, encoding = "utf8" }) => {
      const record = find(stream_id);
      return record && (() => concluded(resultOf(record, encoding), check));
    },

    "exec.attach": (params, context) => {
      const record = find(params.stream_id);
      return record && (() => attached(record, params, (frame) => sendLast([frame], context)));
    },

    "exec.detach": ({ stream_id }) => find(stream_id) && (() => ({ stream_id, detached: false })),

    "exec.cancel": ({ stream_id }) =>
      stream_id !== undefined && find(stream_id) ? () => ({ cancelled: false }) : undefined,

    "exec.write": ({ stream_id }) => {
      if (!find(stream_id)) return undefined;
      throw new TrlError("INVALID_PARAMS", `stream_id: the input of ${stream_id} is not open`);
    },
  };
  const list = ({ state }: Params<"exec.list">): StreamSummary[] =>
    state === "running"
      ? []
      : recovered
          .list()
          .flatMap(({ id }) => find(id) ?? [])
          .map(summarise);
  return { methods, list };
}

/** Throws if the command was lost. Its output is gone; a marker stands for it. */
function resultOf(record: EndedRecord, encoding: Encoding): RunResult {
  const { id, exitCode, signal, reason, durationMs, stdoutBytes, stderrBytes } = record;
  if (reason === lostReason)
    throw new TrlError("RUNTIME_UNAVAILABLE", lossOf(record).message, lossOf(record).data);
  const leftOut = (bytes: number) => {
    const marker = bytes > 0 ? omissionMarker(bytes) : "";
    return encoding === "utf8" ? marker : Buffer.from(marker).toString("base64");
  };
  return {
    stdout: leftOut(stdoutBytes),
    stderr: leftOut(stderrBytes),
    exit_code: exitCode,
    duration_ms: durationMs,
    timed_out: isTimeout(reason),
    signal,
    reason,
    truncated: stdoutBytes + stderrBytes > 0,
    stdout_bytes: stdoutBytes,
    stderr_bytes: stderrBytes,
    leftovers: [],
    receipt: receiptOf(record),
    command_id: id,
    working_dir: "",
  };
}

/** The output size of a lost command is unknown: the offsets that the client asks for count as the end. */
function attached(record: EndedRecord, params: Params<"exec.attach">, send: (frame: ExitFrame) => void) {
  const asked = { stdout: params.stdout_offset ?? 0, stderr: params.stderr_offset ?? 0 };
  const isLost = record.reason === lostReason;
  const total = isLost ? asked : { stdout: record.stdoutBytes, stderr: record.stderrBytes };
  refuseBeyondEnd(asked, total);
  const bytes = { stdout_bytes: total.stdout, stderr_bytes: total.stderr };
  send({ ...exitFrame(record), ...bytes });
  return {
    stream_id: record.id,
    session_id: record.sessionId,
    state: "ended" as const,
    stdout_offset: total.stdout,
    stderr_offset: total.stderr,
    ...bytes,
    truncated: isLost || asked.stdout < total.stdout || asked.stderr < total.stderr,
  };
}

function exitFrame(record: EndedRecord): ExitFrame {
  const { id, exitCode, signal, reason, durationMs, stdoutBytes, stderrBytes } = record;
  return {
    stream_id: id,
    type: "exit",
    exit_code: exitCode,
    signal,
    reason,
    duration_ms: durationMs,
    timed_out: reason !== lostReason && isTimeout(reason),
    stdout_bytes: stdoutBytes,
    stderr_bytes: stderrBytes,
    leftovers: [],
    ...(reason === lostReason ? { error: lossOf(record) } : { receipt: receiptOf(record) }),
  };
}

/** The same error as for a runtime that does not come back. */
export function lossOf({ kind, endedAt }: EndedRecord): LostError {
  const reason = `the daemon was killed while the ${kind === "terminal" ? "terminal" : "command"} ran`;
  const data = { runtime: hostRuntime, since: new Date(endedAt).toISOString(), reason, may_have_run: true };
  return { code: "RUNTIME_UNAVAILABLE", message: `lost: ${reason}`, data };
}

export function receiptOf({ receipt, stdoutBytes, stderrBytes }: EndedRecord): Receipt {
  const unknown = { cpu_ms: null, peak_memory_bytes: null, leftovers: 0, measured_by: null, limits_hit: [] };
  return receipt ?? { ...unknown, bytes_out: stdoutBytes + stderrBytes };
}

function summarise(record: EndedRecord): StreamSummary {
  return {
    stream_id: record.id,
    session_id: record.sessionId,
    session_name: null,
    kind: record.kind === "run" ? "run" : "stream",
    command: "",
    pid: record.pid,
    state: "ended",
    started_at: new Date(record.startedAt).toISOString(),
    ended_at: new Date(record.endedAt).toISOString(),
    stdout_bytes: record.stdoutBytes,
    stderr_bytes: record.stderrBytes,
    exit_code: record.exitCode,
    signal: record.signal,
    reason: record.reason,
    runtime: hostRuntime,
  };
}
