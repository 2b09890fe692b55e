// THE table. Validation, typed handlers, the typed client, `system.describe` and the tests derive from it.
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
    summary: "Says that the daemon is alive, for how long, and its version.",
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
    summary: "Has another program take the daemon's place; sessions, commands and terminals go on.",
    params: system.UpgradeParams,
    result: system.UpgradeResult,
  },
  "session.create": {
    summary: "Creates a session: a shell's state that lives across commands.",
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
    summary: "Replays what is kept of a command's output and goes on live.",
    params: exec.AttachParams,
    result: exec.AttachResult,
    events: exec.streamEvents,
  },
  "exec.ack": {
    summary: "Says how far this client has taken a stream's output; only where it asked for a window.",
    params: exec.AckParams,
    result: exec.AckResult,
    isRepeatable: true,
  },
  "exec.wait": {
    summary: "Waits for the end of a command and gives the result that exec.run would have given.",
    params: exec.WaitParams,
    result: exec.RunResult,
    isRepeatable: true,
  },
  "exec.detach": {
    summary: "Ends this connection's frames of a command; the command goes on.",
    params: exec.DetachParams,
    result: exec.DetachResult,
  },
  "exec.list": {
    summary: "Lists the commands that run and those that have ended lately.",
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
    summary: "Says how large this client's window is; the last client that typed decides.",
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
    summary: "Lists the terminals, and those that have ended lately.",
    params: pty.ListParams,
    result: pty.ListResult,
    isRepeatable: true,
  },
  "pty.subscribe": {
    summary: "Sends a terminal's output as it comes, after a redraw of its screen or from an offset on.",
    params: pty.SubscribeParams,
    result: pty.SubscribeResult,
    events: pty.terminalEvents,
  },
  "pty.ack": {
    summary: "Says how far this client has taken a terminal's output; only where it asked for a window.",
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
    summary: "The screen as text, or as what draws it again.",
    params: pty.SnapshotParams,
    result: pty.Snapshot,
    isRepeatable: true,
  },
  "pty.wait": {
    summary: "Waits until a terminal shows a text, falls silent or ends.",
    params: pty.WaitParams,
    result: pty.WaitResult,
    isRepeatable: true,
  },
  "runtime.list": {
    summary: "Lists the places where sessions can live, and how each of them is.",
    params: NoParams,
    result: runtime.RuntimeListResult,
    isRepeatable: true,
  },
  "runtime.add": {
    summary: "Makes a runtime known; it is reached when it is first used.",
    params: runtime.AddParams,
    result: runtime.RuntimeInfo,
  },
  "runtime.remove": {
    summary: "Forgets a runtime and closes the links to it.",
    params: runtime.RemoveParams,
    result: runtime.RemoveResult,
  },
  "runtime.check": {
    summary: "Reaches a runtime now and says what is there.",
    params: runtime.NameParams,
    result: runtime.CheckResult,
    isRepeatable: true,
  },
} satisfies Record<string, MethodSpec>;

interface MethodSpec {
  summary: string;
  params: v.GenericSchema<Record<string, unknown>, Record<string, unknown>>;
  result: v.GenericSchema<Record<string, unknown>, Record<string, unknown>>;
  /** Only looks, or does the same however often: a client that lost the reply may ask again. */
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
