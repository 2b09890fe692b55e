// From a line to a reply: parses the request, has the router answer it, encodes the result. All errors become error
// replies here.

import type { Log } from "../core/log.ts";
import {
  errorReply,
  idInFront,
  isFrontendMessage,
  okReply,
  parseMessage,
  type Reply,
  type RequestId,
  requestOf,
  unknownId,
} from "../protocol/envelope.ts";
import { type ErrorCode, TrlError } from "../protocol/errors.ts";
import { encodeFrame, type Line } from "../protocol/frame.ts";
import { isMethodName, methods } from "../protocol/methods.ts";
import { nearest } from "../util/nearest.ts";
import type { ServerCounters } from "./counters.ts";
import type { FrontendAdapter } from "./frontend/adapter.ts";
import type { RequestContext } from "./request-context.ts";
import type { Router } from "./router.ts";

/** A reply as its frame, with its error code: HTTP needs a status without parsing the bytes. */
export interface EncodedReply {
  bytes: Uint8Array;
  /** Undefined if the request succeeded, and for replies of the frontend dialect, which has no codes. */
  errorCode: ErrorCode | undefined;
}

type Answer = EncodedReply | undefined;

export class Dispatcher {
  constructor(
    readonly router: Router,
    readonly frontend: FrontendAdapter,
    readonly counters: ServerCounters,
    readonly log: Log,
  ) {}

  /**
   * The frame that answers a line, in the dialect of the line; undefined if a frontend message has no reply. Synchronous
   * where the handler is: a promise would double the latency of a short request.
   */
  answer(line: Line, context: RequestContext): Answer | Promise<Answer> {
    this.counters.requests++;
    const { frontend } = context.connection;
    let id: RequestId = unknownId;
    // A line that cannot be parsed is answered in the dialect of the lines before it.
    let isFrontend = frontend.isSpoken && !frontend.speaksMethods;
    try {
      if (line.kind === "too-long")
        throw new TrlError("REQUEST_TOO_LARGE", "the line is longer than the limit");
      const message = parseMessage(line.bytes);
      if (isFrontendMessage(message)) return this.#answerFrontend(message.fields, context);
      const request = requestOf(message);
      id = request.id;
      isFrontend = false;
      frontend.speaksMethods = true;
      if (!isMethodName(request.method)) throw unsupportedMethod(request.method);
      const result = this.router.call(request.method, request.params, context);
      return result instanceof Promise ? this.#answerLater(id, result) : this.#encode(okReply(id, result));
    } catch (error) {
      const known = this.#countError(error);
      if (known.code === "REQUEST_TOO_LARGE" && id === unknownId && line.kind === "line")
        id = idInFront(line.bytes);
      return isFrontend ? this.#frontendError(known, context) : this.#encode(errorReply(id, known));
    }
  }

  async #answerLater(id: RequestId, result: Promise<unknown>): Promise<Answer> {
    try {
      return this.#encode(okReply(id, await result));
    } catch (error) {
      return this.#encode(errorReply(id, this.#countError(error)));
    }
  }

  async #answerFrontend(fields: Record<string, unknown>, context: RequestContext): Promise<Answer> {
    try {
      const bytes = await this.frontend.answer(fields, context);
      return bytes && { bytes, errorCode: undefined };
    } catch (error) {
      return await this.#frontendError(this.#countError(error), context);
    }
  }

  #frontendError({ message }: TrlError, { connection: { frontend } }: RequestContext): Promise<Answer> {
    const reply = { bytes: this.frontend.error(message, frontend), errorCode: undefined };
    return frontend.inOrder(Promise.resolve(reply), true);
  }

  #countError(error: unknown): TrlError {
    const known = this.#asTrlError(error);
    this.counters.errors.set(known.code, (this.counters.errors.get(known.code) ?? 0) + 1);
    return known;
  }

  /** JSON.stringify throws if the reply exceeds the engine's longest string. */
  #encode(reply: Reply): EncodedReply {
    try {
      return { bytes: encodeFrame(reply), errorCode: reply.ok ? undefined : reply.error.code };
    } catch (error) {
      const known = this.#asTrlError(error);
      return { bytes: encodeFrame(errorReply(reply.id, known)), errorCode: known.code };
    }
  }

  #asTrlError(error: unknown): TrlError {
    if (error instanceof TrlError) return error;
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.log.error("internal error", { cause });
    return new TrlError("INTERNAL_ERROR", "an internal error; the daemon's log has its cause");
  }
}

function unsupportedMethod(method: string): TrlError {
  const meant = nearest(method, Object.keys(methods));
  const hint = meant ? ` (is it meant to be "${meant}"?)` : "";
  return new TrlError("INVALID_PARAMS", `unsupported method "${method.slice(0, 64)}"${hint}`);
}
