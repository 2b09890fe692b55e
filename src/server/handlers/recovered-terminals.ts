// Terminals of a daemon that was killed.

import { TrlError } from "../../protocol/errors.ts";
import { lostReason } from "../../protocol/exec.ts";
import type { Params } from "../../protocol/methods.ts";
import type { Snapshot, SnapshotFormat, TerminalSummary } from "../../protocol/pty.ts";
import { hostRuntime } from "../../protocol/runtime.ts";
import type { SessionInfo } from "../../protocol/session.ts";
import type { EndedRecord } from "../../recovery/journal-record.ts";
import type { HandlerServices } from "./handlers.ts";
import { refuseBeyondEnd } from "./pty-subscriptions.ts";
import { type Recovering, sendLast } from "./recovered-answers.ts";
import { lossOf, receiptOf } from "./recovered-commands.ts";

export function recoveredTerminalHandlers({ recovered, registry }: HandlerServices) {
  const find = (id: string) => (registry.has(id) ? undefined : recovered.terminal(id));
  const refuse = ({ session_id: id }: { session_id: string }) => {
    if (!find(id)) return undefined;
    throw new TrlError("SESSION_NOT_FOUND", `the program of terminal ${id} has ended`);
  };
  const methods: Recovering = {
    "pty.write": refuse,
    "pty.resize": refuse,

    "pty.close": ({ session_id }) => {
      const record = find(session_id);
      if (!record) return undefined;
      const { exitCode: exit_code, signal } = record;
      return () => recovered.cleared.then(() => ({ session_id, state: "terminated", exit_code, signal }));
    },

    "session.destroy": ({ session_id }) =>
      find(session_id) && (() => recovered.cleared.then(() => ({ session_id, state: "terminated" }))),

    "session.info": ({ session_id }) => {
      const record = find(session_id);
      return record && (() => sessionInfo(record));
    },

    "pty.snapshot": ({ session_id, format = "text" }) => {
      const record = find(session_id);
      return record && (() => screenOf(record, format));
    },

    "pty.wait": ({ session_id }) => {
      const record = find(session_id);
      return record && (() => ({ matched: "exit", screen: screenOf(record, "text") }));
    },

    "pty.unsubscribe": ({ session_id }) => find(session_id) && (() => ({ session_id, unsubscribed: false })),

    "pty.subscribe": ({ session_id, from }, context) => {
      const record = find(session_id);
      if (!record) return undefined;
      // The output size of a lost terminal is unknown: the offset that the client asks for counts as the end.
      const offset = record.reason === lostReason ? (from ?? 0) : record.stdoutBytes;
      refuseBeyondEnd(from, offset);
      return () => {
        const gap = { session_id, type: "gap", from, to: offset };
        const isMissing = from !== undefined && from < offset;
        sendLast([...(isMissing ? [gap] : []), { ...exitFrame(record), offset }], context);
        return { session_id, offset, ...sizeOf(record), state: "exited" };
      };
    },
  };
  const list = ({ state }: Params<"pty.list">): TerminalSummary[] =>
    state === "running"
      ? []
      : recovered
          .list()
          .flatMap(({ id }) => find(id) ?? [])
          .map(summarise);
  return { methods, list };
}

const sizeOf = ({ cols = 80, rows = 24 }: EndedRecord) => ({ cols, rows });

/** No lines at all, unlike an empty screen. */
function screenOf(record: EndedRecord, format: SnapshotFormat): Snapshot {
  return {
    ...(format === "ansi" ? { data: "" } : { lines: [] }),
    cursor: { row: 0, col: 0, visible: false },
    ...sizeOf(record),
    title: "",
    alternate_screen: false,
    offset: record.stdoutBytes,
    lost: true,
  };
}

function exitFrame(record: EndedRecord) {
  const { id, exitCode, signal, reason } = record;
  return {
    session_id: id,
    type: "exit",
    exit_code: exitCode,
    signal,
    reason,
    ...(reason === lostReason ? { error: lossOf(record) } : {}),
  };
}

/** The same fields as for a terminal that has ended in this daemon. */
function sessionInfo(record: EndedRecord): SessionInfo {
  const { session_id, name, shell, working_dir, created_at, last_activity, runtime } = summarise(record);
  return {
    ...{ session_id, name, kind: "pty", shell, state: "terminated", working_dir, created_at, last_activity },
    ...{
      command_count: 0,
      timeout_s: 0,
      idle_timeout_s: 0,
      max_age_s: 0,
      expires_at: null,
      expires_by: null,
    },
    ...{ env_keys: [], stateful: false, running_command: null, processes: 0, isolation: null },
    receipt: receiptOf(record),
    runtime,
  };
}

function summarise(record: EndedRecord): TerminalSummary {
  return {
    session_id: record.id,
    name: null,
    pid: record.pid,
    ...sizeOf(record),
    driver: record.driver ?? "native",
    shell: "",
    command: null,
    working_dir: "",
    state: "exited",
    created_at: new Date(record.startedAt).toISOString(),
    last_activity: new Date(record.endedAt).toISOString(),
    subscribers: 0,
    offset: record.stdoutBytes,
    first_offset: record.stdoutBytes,
    exit_code: record.exitCode,
    signal: record.signal,
    ended_at: new Date(record.endedAt).toISOString(),
    reason: record.reason,
    receipt: record.receipt,
    runtime: hostRuntime,
  };
}
