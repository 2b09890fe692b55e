// A terminal in replies: as a terminal (pty.*) and as a session (session.*).
import type { TerminalSummary } from "../../protocol/pty.ts";
import type { SessionInfo, SessionSummary } from "../../protocol/session.ts";
import { expiryFields } from "../lifetime/expiry.ts";
import type { Terminal } from "./terminal.ts";

export function terminalSummary(terminal: Terminal): TerminalSummary {
  const { spec, exit, endedAt } = terminal;
  return {
    session_id: spec.id,
    name: spec.name,
    pid: terminal.pid,
    ...terminal.size,
    driver: spec.driver.name,
    shell: spec.shell,
    command: spec.command,
    working_dir: spec.workingDir,
    state: exit ? "exited" : "running",
    created_at: terminal.createdAt.toISOString(),
    last_activity: terminal.lastActivity.toISOString(),
    subscribers: terminal.displayCount,
    offset: terminal.ring.end,
    first_offset: terminal.ring.start,
    exit_code: exit?.exitCode ?? null,
    signal: exit?.signal ?? null,
    ended_at: endedAt?.toISOString() ?? null,
    reason: terminal.programEnd.reason ?? null,
    receipt: terminal.programEnd.receipt ?? null,
  };
}

export function sessionSummary(terminal: Terminal): SessionSummary {
  const { session_id, name, shell, working_dir, created_at, last_activity, state } =
    terminalSummary(terminal);
  return {
    session_id,
    name,
    kind: "pty",
    shell,
    state: state === "exited" ? "terminated" : "running",
    working_dir,
    created_at,
    last_activity,
    command_count: 0,
    timeout_s: 0,
    idle_timeout_s: terminal.spec.idleTimeoutS,
    max_age_s: terminal.spec.maxAgeS,
    ...expiryFields(terminal.expiry),
  };
}

export async function sessionInfo(terminal: Terminal): Promise<SessionInfo> {
  const { ownership, pty } = terminal.spec;
  const members = await ownership.membersOf({ sessionId: terminal.id });
  return {
    ...sessionSummary(terminal),
    env_keys: Object.keys(pty.env).sort(),
    stateful: false,
    running_command: null,
    processes: members.length,
    isolation: terminal.spec.sessionIsolation?.info() ?? null,
    receipt: terminal.programEnd.receipt ?? terminal.programEnd.receiptSoFar(terminal.ring.end),
  };
}
