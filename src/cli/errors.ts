// What goes wrong for a person at the command line, and what they can do about it.
import { writeFileSync, writeSync } from "node:fs";
import { type ErrorCode, errorCodes, TrlError } from "../protocol/errors.ts";
import { asksForJson } from "./json-errors.ts";
import { harmless } from "./ui/format.ts";
import { jsonText } from "./ui/print.ts";

export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
    readonly hint?: string,
    readonly code: ErrorCode = usualCode(exitCode),
  ) {
    super(message);
  }
}

export const errorExitCode = (code: ErrorCode): number => errorCodes[code].exit;

export const usageExitCode = errorCodes.INVALID_PARAMS.exit;
export const unavailableExitCode = errorCodes.RUNTIME_UNAVAILABLE.exit;

/** While something was being followed, or an answer waited for. */
export const lostDaemon = (message = "the connection to the daemon is lost"): CliError =>
  new CliError(message, 1, "see whether it is alive with: trl ping", "RUNTIME_UNAVAILABLE");

/** Of those that share an exit code, the one that a command line meets. */
function usualCode(exitCode: number): ErrorCode {
  if (exitCode === unavailableExitCode) return "RUNTIME_UNAVAILABLE";
  const names = Object.keys(errorCodes) as ErrorCode[];
  return names.find((name) => errorCodes[name].exit === exitCode) ?? "INTERNAL_ERROR";
}

interface Told {
  code: ErrorCode;
  message: string;
  hint?: string | undefined;
  exitCode: number;
}

/** Prints it on stderr, as JSON where JSON was asked for, and gives the exit code. */
export function reportError(error: unknown, print: (text: string) => void = printOnStream): number {
  const told = tell(error);
  const { code, message, hint } = told;
  print(
    asksForJson(process.argv.slice(2))
      ? `${jsonText({ error: { code, message, hint } })}\n`
      : harmless(
          `trl: ${message}${error instanceof TrlError ? ` (${code})` : ""}\n${hint ? `     ${hint}\n` : ""}`,
        ),
  );
  return told.exitCode;
}

/** Behind what was written there before. */
const printOnStream = (text: string) => void process.stderr.write(text);

/** A log file that takes nothing more must not be the reason that an end has no reason. */
function printOnTerminal(text: string): void {
  try {
    writeFileSync("/dev/tty", text, { flag: "a" });
  } catch {
    // there is none: the exit code is all that is left
  }
}

/** The same where nothing was: the stream would want a descriptor, which may be what is missing. */
export function printAtOnce(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    printOnTerminal(text);
  }
}

function tell(error: unknown): Told {
  if (error instanceof CliError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof TrlError ? error.code : "INTERNAL_ERROR";
  // A daemon that is newer than we are may have codes that we do not know.
  return { code, message, exitCode: (errorCodes[code] ?? errorCodes.INTERNAL_ERROR).exit };
}
