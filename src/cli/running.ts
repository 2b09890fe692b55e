// Commands and programs of terminals in one list, for `ps` and `top`.

import { lostReason, type StreamSummary } from "../protocol/exec.ts";
import type { TerminalSummary } from "../protocol/pty.ts";
import type { DaemonClient } from "./client.ts";
import { bytes, since } from "./ui/format.ts";
import { endText, stateTone } from "./ui/states.ts";
import type { Column } from "./ui/table.ts";

export interface Running {
  /** A command's id, or the terminal's. */
  id: string;
  session_id: string;
  session_name: string | null;
  kind: "run" | "stream" | "pty";
  pid: number;
  state: "running" | "ended";
  started_at: string;
  ended_at: string | null;
  exit_code: number | null;
  signal: string | null;
  reason: string | null;
  output_bytes: number;
  command: string;
}

/** Oldest first; `all` includes recently ended ones. */
export async function listRunning(client: DaemonClient, all: boolean): Promise<Running[]> {
  const state = all ? {} : ({ state: "running" } as const);
  const [{ streams }, { sessions }] = await Promise.all([
    client.call("exec.list", state),
    client.call("pty.list", state),
  ]);
  const rows = [...streams.map(ofCommand), ...sessions.map(ofTerminal)];
  return rows.sort((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at));
}

function ofCommand({ stream_id, stdout_bytes, stderr_bytes, ...rest }: StreamSummary): Running {
  return { id: stream_id, ...rest, output_bytes: stdout_bytes + stderr_bytes };
}

function ofTerminal(terminal: TerminalSummary): Running {
  const { session_id, name, pid, state, created_at, ended_at, exit_code, signal, reason } = terminal;
  const end = reason === lostReason ? lostReason : signal ? "signal" : "exit";
  return {
    id: session_id,
    session_id,
    session_name: name,
    kind: "pty",
    pid,
    state: state === "exited" ? "ended" : "running",
    started_at: created_at,
    ended_at,
    exit_code,
    signal,
    reason: state === "exited" ? end : null,
    output_bytes: terminal.offset,
    command: terminal.command ?? terminal.shell,
  };
}

export const runningColumns = {
  id: { title: "ID", cell: ({ id }) => id },
  session: { title: "SESSION", cell: (it) => it.session_name ?? it.session_id, shrinksTo: 8 },
  kind: { title: "KIND", cell: ({ kind }) => kind, leftOut: 2 },
  pid: { title: "PID", cell: ({ pid }) => pid, isRight: true, leftOut: 1 },
  state: {
    title: "STATE",
    cell: (it) => (it.state === "running" ? it.state : endText(it)),
    tone: (it) => stateTone(it.state, it),
  },
  elapsed: { title: "ELAPSED", cell: (it) => since(it.started_at, it.ended_at), isRight: true },
  output: { title: "OUTPUT", cell: (it) => bytes(it.output_bytes), isRight: true, leftOut: 3 },
  command: { title: "COMMAND", cell: ({ command }) => command, shrinksTo: 20 },
} as const satisfies Record<string, Column<Running>>;
