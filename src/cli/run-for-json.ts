// A command whose result is wanted as one JSON object, when it has ended.

import { errorCodes, TrlError } from "../protocol/errors.ts";
import type { RunParams, RunResult } from "../protocol/exec.ts";
import type { DaemonClient } from "./client.ts";
import type { Interrupts } from "./interrupts.ts";
import { printJson } from "./print.ts";

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
  interrupts.onInterrupt = (isGentle) => {
    const signal = isGentle ? { signal: "SIGINT" } : {};
    client.call("exec.cancel", { session_id, ...signal }).catch(() => {});
  };
  const stdin = passesStdin ? { stdin: await Bun.stdin.text() } : {};
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
