import { constants } from "node:os";
import type { Command } from "../../core/exec/command.ts";
import type { Offsets } from "../../core/exec/command-output.ts";
import type { CommandRecord } from "../../core/exec/command-store.ts";
import { inputPendingMaxBytes } from "../../core/limits.ts";
import { TrlError } from "../../protocol/errors.ts";
import { isTimeout } from "../../protocol/exec.ts";
import type { Params, Result } from "../../protocol/methods.ts";
import { Attachment } from "../attachment.ts";
import { decodeData } from "../decode-data.ts";
import type { Client } from "../lane.ts";
import type { HandlerContext, Handlers } from "./handlers.ts";

type ExecHandlers = Pick<
  Handlers,
  "exec.run" | "exec.stream" | "exec.write" | "exec.cancel" | "exec.attach" | "exec.list"
>;

export function execHandlers({ registry, stallTimeoutS }: HandlerContext): ExecHandlers {
  return {
    "exec.run": async ({ session_id, ...params }, { quota }) => {
      const result = await quota.command(() => {
        const ended = registry.get(session_id).run(params);
        return { started: ended, ended };
      });
      if (isTimeout(result.reason)) {
        const seconds = (result.duration_ms / 1000).toFixed(1);
        const which = result.reason === "timeout" ? "" : ", the limit of its session";
        throw new TrlError("COMMAND_TIMEOUT", `the command was stopped after ${seconds} s${which}`, result);
      }
      if (params.check && result.exit_code !== 0) {
        throw new TrlError("COMMAND_FAILED", `the command ended with exit code ${result.exit_code}`, result);
      }
      return result;
    },

    "exec.stream": ({ session_id, encoding = "utf8", stall_timeout_s, ...params }, client) => {
      const { lane, afterReply, quota } = client;
      const command = quota.command(() => {
        const { command: started, ended } = registry.get(session_id).start(params, "stream");
        return { started, ended };
      });
      const from = { stdout: 0, stderr: 0 };
      const patience = stall_timeout_s ?? stallTimeoutS;
      const attachment = new Attachment({ command, from, encoding, lane, stallTimeoutS: patience });
      afterReply(() => attachment.start());
      return { stream_id: command.id, session_id };
    },

    "exec.attach": (params, client) => attach(registry, stallTimeoutS, params, client),

    "exec.write": (params) => write(registry.commands.get(params.stream_id).command, params),

    "exec.cancel": ({ session_id, stream_id, signal }) => {
      const name = signalNamed(signal);
      const command = findRunning(registry, session_id, stream_id);
      if (!command) return { cancelled: false };
      if (name) command.signal(name);
      else command.stop("cancelled");
      return { cancelled: true, signal: name ?? "SIGTERM" };
    },

    "exec.list": () => ({ streams: registry.commands.list().map(summarise) }),
  };
}

function attach(
  registry: HandlerContext["registry"],
  stallTimeoutS: number,
  { stream_id, encoding = "utf8", ...wanted }: Params<"exec.attach">,
  { lane, afterReply }: Client,
): Result<"exec.attach"> {
  const { command, sessionId, endedAt } = registry.commands.get(stream_id);
  registry.touch(sessionId);
  const { stdout, stderr } = command.output;
  const asked = { stdout: wanted.stdout_offset ?? 0, stderr: wanted.stderr_offset ?? 0 };
  refuseBeyondEnd(asked, command);
  const onCharacters = encoding === "utf8";
  const from = {
    stdout: stdout.resumeFrom(asked.stdout, onCharacters),
    stderr: stderr.resumeFrom(asked.stderr, onCharacters),
  };
  const patience = wanted.stall_timeout_s ?? stallTimeoutS;
  const attachment = new Attachment({
    command,
    from: { ...from },
    encoding,
    lane,
    stallTimeoutS: patience,
  });
  afterReply(() => attachment.start());
  return {
    stream_id,
    session_id: sessionId,
    state: endedAt ? "ended" : "running",
    stdout_offset: from.stdout,
    stderr_offset: from.stderr,
    stdout_bytes: stdout.totalBytes,
    stderr_bytes: stderr.totalBytes,
    truncated: !stdout.hasAllFrom(asked.stdout) || !stderr.hasAllFrom(asked.stderr),
  };
}

function write({ input }: Command, params: Params<"exec.write">): Result<"exec.write"> {
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
  registry: HandlerContext["registry"],
  sessionId?: string,
  streamId?: string,
): Command | undefined {
  if ((sessionId === undefined) === (streamId === undefined)) {
    throw new TrlError("INVALID_PARAMS", "session_id, stream_id: expected one of the two");
  }
  if (sessionId !== undefined) return registry.get(sessionId).runningCommand;
  const { command, endedAt } = registry.commands.get(streamId!);
  return endedAt ? undefined : command;
}

/** `SIGINT` or `INT`; undefined for the default, which escalates. */
function signalNamed(given: string | undefined): NodeJS.Signals | undefined {
  if (given === undefined) return undefined;
  const name = given.toUpperCase().replace(/^(?!SIG)/, "SIG");
  if (!Object.hasOwn(constants.signals, name)) {
    throw new TrlError("INVALID_PARAMS", "signal: expected the name of a signal, such as SIGINT");
  }
  return name === "SIGTERM" ? undefined : (name as NodeJS.Signals);
}

function refuseBeyondEnd(asked: Offsets, { output }: Command): void {
  for (const stream of ["stdout", "stderr"] as const) {
    const total = output[stream].totalBytes;
    if (asked[stream] <= total) continue;
    throw new TrlError(
      "INVALID_PARAMS",
      `${stream}_offset: expected at most ${total}, which is where ${stream} ends now`,
    );
  }
}

function summarise({ command, sessionId, kind, endedAt }: CommandRecord) {
  const { outcome, output } = command;
  return {
    stream_id: command.id,
    session_id: sessionId,
    kind,
    state: endedAt ? ("ended" as const) : ("running" as const),
    started_at: command.startedAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    stdout_bytes: output.stdout.totalBytes,
    stderr_bytes: output.stderr.totalBytes,
    exit_code: outcome?.exitCode ?? null,
    signal: outcome?.signal ?? null,
    reason: outcome?.reason ?? null,
  };
}
