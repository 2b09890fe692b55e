// Running commands, and what can be done with them by id.
import { constants } from "node:os";
import type { KnownCommand } from "../../core/command/command.ts";
import { gather } from "../../core/command/result.ts";
import type { CommandRecord } from "../../core/command/store.ts";
import { inputPendingMaxBytes } from "../../core/limits.ts";
import { TrlError } from "../../protocol/errors.ts";
import { isTimeout, type RunResult } from "../../protocol/exec.ts";
import type { Params, Result } from "../../protocol/methods.ts";
import { hostRuntime } from "../../protocol/runtime.ts";
import { decodeData } from "../decode-data.ts";
import { type AttachmentHandlers, attach, windowOf } from "./exec-attachments.ts";
import type { HandlerServices, Handlers } from "./handlers.ts";

type ExecHandlers = Pick<
  Handlers,
  Exclude<Extract<keyof Handlers, `exec.${string}`>, keyof AttachmentHandlers>
>;

export function execHandlers(services: HandlerServices): ExecHandlers {
  const { registry, stallTimeoutS } = services;
  return {
    "exec.run": async (params, { connection: { quota } }) => {
      const result = await quota.runCommand(() => {
        const ended = registry.get(params.session_id).run(params);
        return { started: ended, ended };
      });
      return concluded(result, params.check);
    },

    "exec.wait": async ({ stream_id, check, encoding = "utf8" }) => {
      const { command, sessionId, settled } = registry.commands.get(stream_id);
      registry.touch(sessionId);
      const { workingDir } = await settled;
      const gathered = gather(command.output, command.outcome!, encoding);
      return concluded({ ...gathered, command_id: command.id, working_dir: workingDir }, check);
    },

    "exec.stream": (
      { session_id, encoding, stall_timeout_s, window_bytes, resume_key, ...params },
      context,
    ) => {
      const windowBytes = windowOf({ window_bytes, resume_key });
      const command = context.connection.quota.runCommand(() => {
        const { command: started, ended } = registry.get(session_id).start(params, "stream");
        return { started, ended };
      });
      attach(command, context, services, {
        from: { stdout: 0, stderr: 0 },
        encoding: encoding ?? "utf8",
        stallTimeoutS: stall_timeout_s ?? stallTimeoutS,
        windowBytes,
        resumeKey: resume_key,
      });
      return { stream_id: command.id, session_id };
    },

    "exec.write": (params) => write(registry.commands.get(params.stream_id).command, params),

    "exec.cancel": ({ session_id, stream_id, signal }) => {
      const name = signalNamed(signal);
      const command = findRunning(registry, session_id, stream_id);
      if (!command) return { cancelled: false };
      if (name) command.signal(name);
      else command.stop("cancelled");
      return { cancelled: true, signal: name ?? "SIGTERM" };
    },

    "exec.list": ({ state }) => ({ streams: registry.commands.list(state).map(summarise) }),
  };
}

/** A timeout is an error, and so is a failure if the request has `check`; the error carries the result. */
export function concluded(result: RunResult, check: boolean | undefined): RunResult {
  if (isTimeout(result.reason)) {
    const seconds = (result.duration_ms / 1000).toFixed(1);
    const which = result.reason === "timeout" ? "" : ", the limit of its session";
    throw new TrlError("COMMAND_TIMEOUT", `the command was stopped after ${seconds} s${which}`, result);
  }
  if (check && result.exit_code !== 0) {
    throw new TrlError("COMMAND_FAILED", `the command ended with exit code ${result.exit_code}`, result);
  }
  return result;
}

function write({ input }: KnownCommand, params: Params<"exec.write">): Result<"exec.write"> {
  const { stream_id, data = "", encoding = "utf8", eof = false } = params;
  if (!input?.isOpen)
    throw new TrlError("INVALID_PARAMS", `stream_id: the input of ${stream_id} is not open`);
  const bytes = decodeData(data, encoding);
  if (input.pendingBytes + bytes.length > inputPendingMaxBytes) {
    const pending = `${input.pendingBytes} bytes wait to be read, at most ${inputPendingMaxBytes} may`;
    throw new TrlError("REQUEST_TOO_LARGE", `the command does not read its input: ${pending}`);
  }
  input.write(bytes);
  if (eof) input.end();
  return { stream_id, bytes: bytes.length, pending_bytes: input.pendingBytes };
}

function findRunning(
  registry: HandlerServices["registry"],
  sessionId?: string,
  streamId?: string,
): KnownCommand | undefined {
  if ((sessionId === undefined) === (streamId === undefined)) {
    throw new TrlError("INVALID_PARAMS", "session_id, stream_id: expected one of the two");
  }
  if (sessionId !== undefined) return registry.get(sessionId).runningCommand;
  const { command, endedAt } = registry.commands.get(streamId!);
  return endedAt ? undefined : command;
}

/** Takes `SIGINT` or `INT`; undefined for SIGTERM, which escalates. */
function signalNamed(given: string | undefined): NodeJS.Signals | undefined {
  if (given === undefined) return undefined;
  const name = given.toUpperCase().replace(/^(?!SIG)/, "SIG");
  if (!Object.hasOwn(constants.signals, name)) {
    throw new TrlError("INVALID_PARAMS", "signal: expected the name of a signal, such as SIGINT");
  }
  return name === "SIGTERM" ? undefined : (name as NodeJS.Signals);
}

function summarise({ command, text, sessionId, sessionName, kind, endedAt }: CommandRecord) {
  const { outcome, output } = command;
  return {
    stream_id: command.id,
    session_id: sessionId,
    session_name: sessionName,
    kind,
    command: text,
    pid: command.pid,
    state: endedAt ? ("ended" as const) : ("running" as const),
    started_at: command.startedAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    stdout_bytes: output.stdout.totalBytes,
    stderr_bytes: output.stderr.totalBytes,
    exit_code: outcome?.exitCode ?? null,
    signal: outcome?.signal ?? null,
    reason: outcome?.reason ?? null,
    runtime: hostRuntime,
  };
}
