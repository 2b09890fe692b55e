import { type ArgsDef, defineCommand } from "citty";
import { hostRuntime } from "../protocol/runtime.ts";
import { checkFlags } from "./check-flags.ts";
import { connect, socketArgs, socketPathFrom } from "./connection.ts";
import { type Entry, listAll } from "./sessions.ts";
import { printable, table } from "./table.ts";

const args = {
  ...socketArgs,
  json: { type: "boolean", description: "Print JSON" },
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "ls", description: "List terminals and sessions, and terminals that have ended lately" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    using client = await connect(socketPathFrom(given));
    const sessions = await listAll(client);
    if (given.json) process.stdout.write(`${JSON.stringify({ sessions })}\n`);
    else if (sessions.length > 0) process.stdout.write(tableOf(sessions));
    else process.stderr.write("trl: there is no session yet; make one with: trl new NAME\n");
  },
});

const header = ["ID", "NAME", "KIND", "STATE", "SIZE", "PID", "COMMAND", "AGE", "WATCHERS"];

/** Where all is here, nothing is said of it. */
function tableOf(entries: Entry[]): string {
  const isSomeElsewhere = entries.some(({ runtime }) => runtime !== undefined && runtime !== hostRuntime);
  if (!isSomeElsewhere) return table([header, ...entries.map(cells)]);
  const rows = entries.map((entry) => [...cells(entry), entry.runtime ?? "-"]);
  return table([[...header, "RUNTIME"], ...rows]);
}

function cells(entry: Entry): string[] {
  const { session_id, name, kind } = entry;
  const age = ageOf(entry.created_at);
  if (kind === "exec") {
    return [session_id, printable(name), kind, entry.state, "-", "-", printable(entry.shell), age, "-"];
  }
  const { cols, rows, pid, subscribers, exit_code, signal } = entry;
  const state = entry.state === "exited" ? `exited ${signal ?? exit_code}` : entry.state;
  const command = printable(entry.command ?? entry.shell);
  const size = `${cols}x${rows}`;
  return [session_id, printable(name), kind, state, size, String(pid), command, age, String(subscribers)];
}

/** Shorter than a date, and all that matters. */
function ageOf(createdAt: string): string {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(createdAt)) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
