// A command whose result is wanted as one JSON object, when it has ended.

import { errorCodes, TrlError } from "../../protocol/errors.ts";
import type { RunParams, RunResult } from "../../protocol/exec.ts";
import type { DaemonClient } from "../client.ts";
import { CliError, usageExitCode } from "../errors.ts";
import type { Interrupts } from "../interrupts.ts";
import { printJson } from "../ui/print.ts";

interface How {
  interrupts: Interrupts;
  passesStdin: boolean;
}

/** Gives the exit code: the command's, or that of a timeout, whose result is printed like any other. */
export async function runForJson(
  client: DaemonClient,
  params: RunParams,
  { interrupts, passesStdin }: How,
): Promise<number> {
  const { session_id } = params;
  const stdin = passesStdin ? { stdin: await readText(interrupts) } : {};
  if (interrupts.last) return interruptedExitCode;
  interrupts.onInterrupt = (isGentle) => {
    const signal = isGentle ? { signal: "SIGINT" } : {};
    client.call("exec.cancel", { session_id, ...signal }).catch(() => {});
  };
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

/** 128 and the number of SIGINT. */
const interruptedExitCode = 130;

/** Until its end, or until we are interrupted; exec.run takes it as text. */
async function readText(interrupts: Interrupts): Promise<string> {
  const { promise: interrupted, resolve } = Promise.withResolvers<Uint8Array>();
  interrupts.onInterrupt = () => resolve(new Uint8Array());
  const bytes = await Promise.race([Bun.stdin.bytes(), interrupted]);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CliError("with --json the input must be text in UTF-8", usageExitCode, "leave --json out");
  }
}
