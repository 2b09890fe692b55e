// The reply of exec.run: output within its limits, and the outcome.
import { TrlError } from "../../protocol/errors.ts";
import { type Encoding, isTimeout, omissionMarker, type RunResult } from "../../protocol/exec.ts";
import type { StreamLog } from "../process/stream-log.ts";
import type { CommandOutcome } from "./command.ts";
import type { CommandOutput } from "./output.ts";

// A byte order mark is output like any other.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A shell that fails prints a line or two. */
const failureMaxChars = 2000;

/** Describes the end of a shell whose command did not begin. */
export function failureBefore(shell: string, { stderr }: CommandOutput, outcome: CommandOutcome): string {
  const how = outcome.signal === null ? `exit code ${outcome.exitCode}` : `signal ${outcome.signal}`;
  const said = render(stderr, "utf8").trim().slice(0, failureMaxChars);
  return `${shell} ended before the command began (${how})${said === "" ? "" : `: ${said}`}`;
}

/** exec.run is the same as exec.stream, with the retained output in one reply. */
export function gather(
  output: CommandOutput,
  outcome: CommandOutcome,
  encoding: Encoding,
): Omit<RunResult, "command_id" | "working_dir"> {
  const { exitCode, signal, reason, durationMs, leftovers, receipt, failure } = outcome;
  if (failure !== undefined) throw new TrlError("SPAWN_FAILED", failure);
  return {
    stdout: render(output.stdout, encoding),
    stderr: render(output.stderr, encoding),
    exit_code: exitCode,
    duration_ms: durationMs,
    timed_out: isTimeout(reason),
    signal,
    reason,
    truncated: output.stdout.isTruncated || output.stderr.isTruncated,
    stdout_bytes: output.stdout.totalBytes,
    stderr_bytes: output.stderr.totalBytes,
    leftovers,
    receipt,
  };
}

function render(output: StreamLog, encoding: Encoding): string {
  const { head, tail, omittedBytes } = output.parts(encoding === "utf8");
  const marker = omittedBytes > 0 ? omissionMarker(omittedBytes) : "";
  if (encoding === "utf8") return textOf(head) + marker + textOf(tail);
  return Buffer.concat([head, Buffer.from(marker), tail]).toString("base64");
}

/** Most commands print to one of their streams, and little. */
const textOf = (bytes: Uint8Array): string => (bytes.length === 0 ? "" : decoder.decode(bytes));
