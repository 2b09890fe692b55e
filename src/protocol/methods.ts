// The method table. Validation, typed handlers, the typed client, `system.describe` and tests derive from it.
import * as v from "valibot";
import * as exec from "./exec.ts";
import * as pty from "./pty.ts";
import * as runtime from "./runtime.ts";
import * as session from "./session.ts";
import * as system from "./system.ts";

export const protocolVersion = 1;

const NoParams = v.object({});

export const methods = {
  "system.ping": {
    summary: "Confirms that the daemon is alive; returns its uptime and version.",
    params: NoParams,
    result: system.PingResult,
    isRepeatable: true,
  },
  "system.stats": {
    summary: "Counts of sessions, commands, connections, descriptors and memory.",
    params: NoParams,
    result: system.StatsResult,
    isRepeatable: true,
  },
  "system.describe": {
    summary: "Versions, methods with their JSON Schemas, capabilities and limits.",
    params: NoParams,
    result: system.DescribeResult,
    isRepeatable: true,
  },
  "system.upgrade": {
    summary: "Upgrades the daemon to another executable; sessions, commands and terminals go on.",
    params: system.UpgradeParams,
    result: system.UpgradeResult,
  },
  "session.create": {
    summary: "Creates a session: shell state that persists across commands.",
    params: session.CreateParams,
    result: session.CreateResult,
  },
  "session.list": {
    summary: "Lists the sessions.",
    params: runtime.ListParams,
    result: session.ListResult,
    isRepeatable: true,
  },
  "session.info": {
    summary: "One session in detail; names of its variables, never their values.",
    params: session.InfoParams,
    result: session.SessionInfo,
    isRepeatable: true,
  },
  "session.destroy": {
    summary: "Ends a session and everything that it started.",
    params: session.DestroyParams,
    result: session.DestroyResult,
  },
  "exec.run": {
    summary: "Runs a command in a session and replies when it has ended.",
    params: exec.RunParams,
    result: exec.RunResult,
  },
  "exec.stream": {
    summary: "Runs a command and sends its output as it comes.",
    params: exec.StreamParams,
    result: exec.StreamResult,
    events: exec.streamEvents,
  },
  "exec.write": {
    summary: "Writes to the input of a command that was started with open_stdin.",
    params: exec.WriteParams,
    result: exec.WriteResult,
  },
  "exec.cancel": {
    summary: "Stops a command, or sends it a signal.",
    params: exec.CancelParams,
    result: exec.CancelResult,
  },
  "exec.attach": {
    summary: "Replays the kept output of a command, then streams live.",
    params: exec.AttachParams,
    result: exec.AttachResult,
    events: exec.streamEvents,
  },
  "exec.ack": {
    summary: "Acknowledges a stream's output up to the offsets; only with window_bytes.",
    params: exec.AckParams,
    result: exec.AckResult,
    isRepeatable: true,
  },
  "exec.wait": {
    summary: "Waits for the end of a command and returns the same result as exec.run.",
    params: exec.WaitParams,
    result: exec.RunResult,
    isRepeatable: true,
  },
  "exec.detach": {
    summary: "Stops streaming a command's output to this connection; the command goes on.",
    params: exec.DetachParams,
    result: exec.DetachResult,
  },
  "exec.list": {
    summary: "Lists the running commands and those that have ended recently.",
    params: exec.ListParams,
    result: exec.StreamList,
    isRepeatable: true,
  },
  "pty.create": {
    summary: "Starts a program, a command line or a shell on a terminal of its own.",
    params: pty.CreateParams,
    result: pty.TerminalSummary,
  },
  "pty.write": {
    summary: "Types into a terminal.",
    params: pty.WriteParams,
    result: pty.WriteResult,
  },
  "pty.resize": {
    summary:
      "Reports the size of this client's window; the last client that typed decides the terminal's size.",
    params: pty.ResizeParams,
    result: pty.ResizeResult,
    isRepeatable: true,
  },
  "pty.close": {
    summary: "Ends a terminal's program and everything that it started.",
    params: pty.TerminalParams,
    result: pty.CloseResult,
  },
  "pty.list": {
    summary: "Lists the terminals, including those that have ended recently.",
    params: pty.ListParams,
    result: pty.ListResult,
    isRepeatable: true,
  },
  "pty.subscribe": {
    summary: "Streams a terminal's output, after a redraw of its screen or from an offset.",
    params: pty.SubscribeParams,
    result: pty.SubscribeResult,
    events: pty.terminalEvents,
  },
  "pty.ack": {
    summary: "Acknowledges a terminal's output up to an offset; only with window_bytes.",
    params: pty.AckParams,
    result: pty.AckResult,
    isRepeatable: true,
  },
  "pty.unsubscribe": {
    summary: "Ends this connection's subscription.",
    params: pty.TerminalParams,
    result: pty.UnsubscribeResult,
  },
  "pty.snapshot": {
    summary: "The screen as text, or as the escape sequences that redraw it.",
    params: pty.SnapshotParams,
    result: pty.Snapshot,
    isRepeatable: true,
  },
  "pty.wait": {
    summary: "Waits until a terminal shows a text, is idle or ends.",
    params: pty.WaitParams,
    result: pty.WaitResult,
    isRepeatable: true,
  },
  "runtime.list": {
    summary: "Lists the runtimes in which sessions can run, with their state.",
    params: NoParams,
    result: runtime.RuntimeListResult,
    isRepeatable: true,
  },
  "runtime.add": {
    summary: "Adds a runtime; the daemon connects to it on first use.",
    params: runtime.AddParams,
    result: runtime.RuntimeInfo,
  },
  "runtime.remove": {
    summary: "Removes a runtime and closes the links to it.",
    params: runtime.RemoveParams,
    result: runtime.RemoveResult,
  },
  "runtime.check": {
    summary: "Connects to a runtime now and describes its daemon.",
    params: runtime.NameParams,
    result: runtime.CheckResult,
    isRepeatable: true,
  },
} satisfies Record<string, MethodSpec>;

interface MethodSpec {
  summary: string;
  params: v.GenericSchema<Record<string, unknown>, Record<string, unknown>>;
  result: v.GenericSchema<Record<string, unknown>, Record<string, unknown>>;
  /** Idempotent: a client that lost the reply may repeat the request. */
  isRepeatable?: true;
  /** Frames that follow the reply on the same connection, by their `type`. */
  events?: Record<string, v.GenericSchema>;
}

export type MethodName = keyof typeof methods;
export type Params<M extends MethodName> = v.InferOutput<(typeof methods)[M]["params"]>;
export type Result<M extends MethodName> = v.InferOutput<(typeof methods)[M]["result"]>;

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methods, name);
}
