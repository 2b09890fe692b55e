// Errors of the client library, each with one of the protocol's error codes.
import { type ErrorCode, TrlError } from "../protocol/errors.ts";
import type { LostError, RunResult } from "../protocol/exec.ts";
import { fromBase64 } from "../util/base64.ts";
import { type Camelized, camelized } from "./naming.ts";

/** The daemon cannot be reached, or the connection was lost before the reply. */
export class ConnectionError extends TrlError {
  constructor(
    message: string,
    /** The request had been sent, so the daemon may have executed it; the client does not send it again. */
    readonly mayHaveRun: boolean,
    options: { code?: ErrorCode; cause?: unknown } = {},
  ) {
    super(options.code ?? "RUNTIME_UNAVAILABLE", message, { may_have_run: mayHaveRun });
    this.name = "ConnectionError";
    this.cause = options.cause;
  }
}

/** The error that ended a connection, for a request that had not been sent. */
export function unsent(error: Error): Error {
  if (!(error instanceof ConnectionError && error.mayHaveRun)) return error;
  return new ConnectionError(error.message, false, { code: error.code, cause: error.cause });
}

/** COMMAND_TIMEOUT, or COMMAND_FAILED with `check`: the command has ended and has a result. */
export class CommandError extends TrlError {
  /** The output is text even if bytes were requested, since it is part of an error. */
  readonly result: Camelized<RunResult>;

  constructor({ code, message, data }: TrlError, isBase64 = false) {
    super(code, message, data);
    this.name = "CommandError";
    const result = camelized(data as RunResult);
    const text = (output: string) => (isBase64 ? new TextDecoder().decode(fromBase64(output)) : output);
    this.result = { ...result, stdout: text(result.stdout), stderr: text(result.stderr) };
  }
}

/** For a command or terminal in a runtime that became unreachable: whether and how it ended is unknown. */
export const lostError = ({ code, message, data }: LostError): TrlError =>
  new TrlError(code as ErrorCode, message, data);

/** Whether it is an error of trl, with one of these codes if any are given. */
export function isTrlError<C extends ErrorCode>(
  error: unknown,
  ...codes: C[]
): error is TrlError & { code: C } {
  return error instanceof TrlError && (codes.length === 0 || codes.includes(error.code as C));
}
