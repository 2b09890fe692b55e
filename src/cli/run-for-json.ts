// `trl run --json`: runs a command to its end and prints the result as one JSON object.

import { errorCodes, TrlError } from "../protocol/errors.ts";
import type { RunParams, RunResult } from "../protocol/exec.ts";
import type { DaemonClient } from "./client.ts";
import { CliError, usageExitCode } from "./errors.ts";
import type { Interrupts } from "./interrupts.ts";
import { printJson } from "./ui/print.ts";

interface RunOptions {
  interrupts: Interrupts;
  passesStdin: boolean;
}

/** Returns the exit code: the command's, or 124 after a timeout. Both print a result. */
export async function runForJson(
  client: DaemonClient,
  params: RunParams,
  { interrupts, passesStdin }: RunOptions,
): Promise<number> {
  const { session_id } = params;
  const stdin = passesStdin ? { stdin: await readText(interrupts) } : {};
  if (interrupts.last) return interruptedExitCode;
  interrupts.listen((isGentle) => {
    const signal = isGentle ? { signal: "SIGINT" } : {};
    client.call("exec.cancel", { session_id, ...signal }).catch(() => {});
  });
  try {
    const result = await client.call("exec.run", { ...params, ...stdin });
    printJson(result);
    return result.exit_code;
  } catch (error) {
    if (!(error instanceof TrlError) || error.code !== "COMMAND_TIMEOUT") throw error;
    printJson(error.data as RunResult);
    return errorCodes.COMMAND_TIMEOUT.exit;
  }
}

/** 128 + SIGINT. */
const interruptedExitCode = 130;

/** Reads stdin to its end or to an interrupt. exec.run takes input as text only. */
async function readText(interrupts: Interrupts): Promise<string> {
  const { promise: interrupted, resolve } = Promise.withResolvers<Uint8Array>();
  using _ = interrupts.listen(() => resolve(new Uint8Array()));
  const bytes = await Promise.race([Bun.stdin.bytes(), interrupted]);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CliError("with --json the input must be text in UTF-8", usageExitCode, "leave --json out");
  }
}
