// What goes wrong for a person at the command line, and what they can do about it.
import { type ErrorCode, errorCodes, TrlError } from "../protocol/errors.ts";

export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
    readonly hint?: string,
  ) {
    super(message);
  }
}

export const errorExitCode = (code: ErrorCode): number => errorCodes[code].exit;

export const usageExitCode = errorCodes.INVALID_PARAMS.exit;
export const unavailableExitCode = errorCodes.RUNTIME_UNAVAILABLE.exit;

/** While something was being followed. */
export const lostDaemon = (): CliError =>
  new CliError("the connection to the daemon is lost", 1, "see whether it is alive with: trl ping");

/** Prints it on stderr and gives the exit code. */
export function reportError(error: unknown): number {
  if (error instanceof CliError) {
    process.stderr.write(`trl: ${error.message}\n${error.hint ? `     ${error.hint}\n` : ""}`);
    return error.exitCode;
  }
  if (error instanceof TrlError) {
    process.stderr.write(`trl: ${error.message} (${error.code})\n`);
    return errorCodes[error.code]?.exit ?? 1;
  }
  process.stderr.write(`trl: ${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
}
