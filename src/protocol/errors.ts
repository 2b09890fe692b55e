// The closed list of error codes. Each code maps to one HTTP status and one CLI exit code
// (the exit codes follow sysexits(3); 124 and 126 follow timeout(1) and the shells).

export const errorCodes = {
  INVALID_PARAMS: { http: 400, exit: 64 },
  SESSION_NOT_FOUND: { http: 404, exit: 66 },
  STREAM_NOT_FOUND: { http: 404, exit: 66 },
  SESSION_BUSY: { http: 409, exit: 75 },
  COMMAND_TIMEOUT: { http: 504, exit: 124 }, // not 408: browsers repeat such a request on their own
  COMMAND_FAILED: { http: 422, exit: 1 },
  SPAWN_FAILED: { http: 500, exit: 126 },
  MAX_SESSIONS_REACHED: { http: 429, exit: 75 },
  SESSION_LIMIT_EXCEEDED: { http: 429, exit: 75 },
  RESOURCE_PRESSURE: { http: 503, exit: 75 },
  REQUEST_TOO_LARGE: { http: 413, exit: 65 },
  AUTH_FAILED: { http: 401, exit: 77 },
  UNSUPPORTED: { http: 501, exit: 69 },
  RUNTIME_NOT_FOUND: { http: 404, exit: 66 },
  RUNTIME_UNAVAILABLE: { http: 502, exit: 69 },
  INTERNAL_ERROR: { http: 500, exit: 70 },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** An error that is reported to the client by its code; any other exception is a bug. */
export class TrlError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.name = "TrlError";
  }
}
