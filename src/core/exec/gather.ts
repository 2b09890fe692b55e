// exec.run's reply: what a command printed, gathered within bounds, and how it ended.
import type { Encoding, RunResult } from "../../protocol/exec.ts";
import { HeadTail } from "../process/head-tail.ts";
import type { CommandOutcome } from "./command.ts";

// A byte order mark is output like any other.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class GatheredOutput {
  readonly stdout: HeadTail;
  readonly stderr: HeadTail;

  constructor(maxBytes: number) {
    this.stdout = new HeadTail(maxBytes);
    this.stderr = new HeadTail(maxBytes);
  }

  result(outcome: CommandOutcome, encoding: Encoding): Omit<RunResult, "command_id" | "working_dir"> {
    const { exitCode, signal, reason, durationMs, leftovers } = outcome;
    return {
      stdout: render(this.stdout, encoding),
      stderr: render(this.stderr, encoding),
      exit_code: exitCode,
      duration_ms: durationMs,
      timed_out: reason === "timeout",
      signal,
      reason,
      truncated: this.stdout.isTruncated || this.stderr.isTruncated,
      stdout_bytes: this.stdout.totalBytes,
      stderr_bytes: this.stderr.totalBytes,
      leftovers,
    };
  }
}

function render(output: HeadTail, encoding: Encoding): string {
  const { head, tail, omittedBytes } = output.parts(encoding === "utf8");
  const marker = omittedBytes > 0 ? `\n[trl: ${omittedBytes} bytes left out]\n` : "";
  if (encoding === "utf8") return decoder.decode(head) + marker + decoder.decode(tail);
  return Buffer.concat([head, Buffer.from(marker), tail]).toString("base64");
}
