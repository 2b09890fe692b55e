// What a caller of the client can meet, each with a code of the protocol's closed list.
import { type ErrorCode, TrlError } from "../protocol/errors.ts";
import type { LostError, RunResult } from "../protocol/exec.ts";
import { fromBase64 } from "../util/base64.ts";
import { type Camelized, camelized } from "./naming.ts";

/** The daemon cannot be reached, or the connection was lost before the answer came. */
export class ConnectionError extends TrlError {
  constructor(
    message: string,
    /** The request had left: it may have been carried out, and is not sent again by itself. */
    readonly mayHaveRun: boolean,
    options: { code?: ErrorCode; cause?: unknown } = {},
  ) {
    super(options.code ?? "RUNTIME_UNAVAILABLE", message, { may_have_run: mayHaveRun });
    this.name = "ConnectionError";
    this.cause = options.cause;
  }
}

/** What ended a connection, as it is for a request that had not left. */
export function unsent(error: Error): Error {
  if (!(error instanceof ConnectionError && error.mayHaveRun)) return error;
  return new ConnectionError(error.message, false, { code: error.code, cause: error.cause });
}

/** COMMAND_TIMEOUT, or COMMAND_FAILED where `check` was asked for: the command has a result all the same. */
export class CommandError extends TrlError {
  /** Its output is text, whatever was asked for: there is somebody to be told. */
  readonly result: Camelized<RunResult>;

  constructor({ code, message, data }: TrlError, isBase64 = false) {
    super(code, message, data);
    this.name = "CommandError";
    const result = camelized(data as RunResult);
    const text = (output: string) => (isBase64 ? new TextDecoder().decode(fromBase64(output)) : output);
    this.result = { ...result, stdout: text(result.stdout), stderr: text(result.stderr) };
  }
}

/** What ran in a runtime that is out of reach for good; how it ended, or whether, nobody knows. */
export const lostError = ({ code, message, data }: LostError): TrlError =>
  new TrlError(code as ErrorCode, message, data);

/** Whether it is an error of trl, and of one of these codes where any are given. */
export function isTrlError<C extends ErrorCode>(
  error: unknown,
  ...codes: C[]
): error is TrlError & { code: C } {
  return error instanceof TrlError && (codes.length === 0 || codes.includes(error.code as C));
}
