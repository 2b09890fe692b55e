// trl ls: lists sessions and terminals.
import { type ArgsDef, defineCommand } from "citty";
import { hostRuntime } from "../../protocol/runtime.ts";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { type Entry, listAll, reasonOf } from "../sessions.ts";
import { since } from "../ui/format.ts";
import { jsonArgs, note, print, printJson } from "../ui/print.ts";
import { endText, stateTone } from "../ui/states.ts";
import { type Column, renderTable, stdoutLook } from "../ui/table.ts";

const args = { ...socketArgs, ...jsonArgs } as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "ls", description: "List terminals and sessions, and terminals that have ended lately" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    refuseWords(given._);
    using client = await connect(socketPathFrom(given));
    const { entries: sessions, unavailable } = await listAll(client);
    if (given.json) return printJson({ sessions, ...(unavailable.length > 0 ? { unavailable } : {}) });
    for (const runtime of unavailable) note(reasonOf(runtime));
    if (sessions.length === 0) return note("there is no session yet; make one with: trl new NAME");
    const { streams } = await client.call("exec.list", { state: "running" });
    const running = new Map(streams.map(({ session_id, command }) => [session_id, command]));
    const rows = sessions.map((entry) => ({ entry, command: commandOf(entry, running) }));
    print(renderTable(columnsFor(sessions), rows, stdoutLook()));
  },
});

export interface SessionRow {
  entry: Entry;
  command: string | undefined;
}

/** The RUNTIME column appears only if a session is in another runtime. */
export function columnsFor(entries: Entry[]): Column<SessionRow>[] {
  const hasRemote = entries.some(({ runtime }) => runtime !== undefined && runtime !== hostRuntime);
  return hasRemote ? [...sessionColumns, runtimeColumn] : sessionColumns;
}

/** A terminal's program, or the running command of a session. */
const commandOf = (entry: Entry, running: Map<string, string>): string | undefined =>
  entry.kind === "pty" ? (entry.command ?? entry.shell) : running.get(entry.session_id);

export const sessionColumns: Column<SessionRow>[] = [
  { title: "ID", cell: ({ entry }) => entry.session_id },
  { title: "NAME", cell: ({ entry }) => entry.name, shrinksTo: 8 },
  { title: "KIND", cell: ({ entry }) => entry.kind },
  {
    title: "STATE",
    cell: ({ entry }) => stateText(entry),
    tone: ({ entry }) => stateTone(entry.state, entry.kind === "pty" ? entry : undefined),
  },
  { title: "AGE", cell: ({ entry }) => since(entry.created_at), isRight: true },
  { title: "PID", cell: ({ entry }) => (entry.kind === "pty" ? entry.pid : null), isRight: true, leftOut: 3 },
  {
    title: "SIZE",
    cell: ({ entry }) => (entry.kind === "pty" ? `${entry.cols}x${entry.rows}` : null),
    leftOut: 1,
  },
  {
    title: "WATCHERS",
    cell: ({ entry }) => (entry.kind === "pty" ? entry.subscribers : null),
    isRight: true,
    leftOut: 2,
  },
  { title: "DIRECTORY", cell: ({ entry }) => entry.working_dir, shrinksTo: 10, keepsEnd: true, leftOut: 4 },
  { title: "COMMAND", cell: ({ command }) => command, shrinksTo: 16 },
];

const runtimeColumn: Column<SessionRow> = { title: "RUNTIME", cell: ({ entry }) => entry.runtime };

const stateText = (entry: Entry): string =>
  entry.kind === "pty" && entry.state === "exited" ? endText(entry) : entry.state;
