// Errors of the command line: message, hint, exit code, and how they are printed.
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

/** The connection broke during a request or a subscription. */
export const lostDaemon = (message = "the connection to the daemon is lost"): CliError =>
  new CliError(message, 1, "see whether it is alive with: trl ping", "RUNTIME_UNAVAILABLE");

/** Several codes share an exit code; this is the one that the command line itself raises. */
function usualCode(exitCode: number): ErrorCode {
  if (exitCode === unavailableExitCode) return "RUNTIME_UNAVAILABLE";
  const names = Object.keys(errorCodes) as ErrorCode[];
  return names.find((name) => errorCodes[name].exit === exitCode) ?? "INTERNAL_ERROR";
}

interface ErrorReport {
  code: ErrorCode;
  message: string;
  hint?: string | undefined;
  exitCode: number;
}

/** Prints the error on stderr, as JSON with --json, and returns the exit code. */
export function reportError(error: unknown, print: (text: string) => void = printOnStream): number {
  const report = reportOf(error);
  const { code, message, hint } = report;
  print(
    asksForJson(process.argv.slice(2))
      ? `${jsonText({ error: { code, message, hint } })}\n`
      : harmless(
          `trl: ${message}${error instanceof TrlError ? ` (${code})` : ""}\n${hint ? `     ${hint}\n` : ""}`,
        ),
  );
  return report.exitCode;
}

/** Keeps the order with earlier writes to the stream. */
const printOnStream = (text: string) => void process.stderr.write(text);

/** If stderr is a file on a full disk, the controlling terminal still shows why the daemon ended. */
function printOnTerminal(text: string): void {
  try {
    writeFileSync("/dev/tty", text, { flag: "a" });
  } catch {
    // no controlling terminal: only the exit code remains
  }
}

/** Synchronous: process.stderr opens a descriptor, which fails when descriptors are exhausted. */
export function printAtOnce(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    printOnTerminal(text);
  }
}

function reportOf(error: unknown): ErrorReport {
  if (error instanceof CliError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof TrlError ? error.code : "INTERNAL_ERROR";
  // A newer daemon may send codes that this version does not know.
  return { code, message, exitCode: (errorCodes[code] ?? errorCodes.INTERNAL_ERROR).exit };
}
