// From a line to a reply: parse, have it answered here or elsewhere, wrap. The only place that maps errors.

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
import type { Client } from "./outgoing-queue.ts";
import type { ConnectionLimits } from "./quota.ts";
import type { Router } from "./router.ts";

/** A reply as its frame, with its outcome, so that no transport has to search the bytes for it. */
export interface EncodedReply {
  bytes: Uint8Array;
  /** Undefined where the request succeeded, and for replies of the frontend dialect, which has no codes. */
  errorCode: ErrorCode | undefined;
}

type Answer = EncodedReply | undefined;

export class Dispatcher {
  constructor(
    readonly router: Router,
    readonly frontend: FrontendAdapter,
    readonly counters: ServerCounters,
    readonly connectionLimits: ConnectionLimits,
    readonly log: Log,
  ) {}

  /**
   * The frame that answers a line, in the dialect of the line; undefined where that one has no answer. At once, where
   * nothing has to be waited for: a promise for it would take as long as the rest of a short request's way.
   */
  answer(line: Line, client: Client): Answer | Promise<Answer> {
    this.counters.requests++;
    let id: RequestId = unknownId;
    // A line that cannot be read is answered in the dialect that has been spoken.
    let isFrontend = client.frontend.isSpoken && !client.frontend.speaksMethods;
    try {
      if (line.kind === "too-long")
        throw new TrlError("REQUEST_TOO_LARGE", "the line is longer than the limit");
      const message = parseMessage(line.bytes);
      if (isFrontendMessage(message)) return this.#answerFrontend(message.fields, client);
      const request = requestOf(message);
      id = request.id;
      isFrontend = false;
      client.frontend.speaksMethods = true;
      const result = this.#call(request.method, request.params, client);
      return result instanceof Promise ? this.#answerLater(id, result) : this.#encode(okReply(id, result));
    } catch (error) {
      const known = this.#noteError(error);
      if (known.code === "REQUEST_TOO_LARGE" && id === unknownId && line.kind === "line")
        id = idInFront(line.bytes);
      return isFrontend ? this.#frontendError(known, client) : this.#encode(errorReply(id, known));
    }
  }

  async #answerLater(id: RequestId, result: Promise<unknown>): Promise<Answer> {
    try {
      return this.#encode(okReply(id, await result));
    } catch (error) {
      return this.#encode(errorReply(id, this.#noteError(error)));
    }
  }

  async #answerFrontend(fields: Record<string, unknown>, client: Client): Promise<Answer> {
    try {
      const bytes = await this.frontend.answer(fields, client);
      return bytes && { bytes, errorCode: undefined };
    } catch (error) {
      return await this.#frontendError(this.#noteError(error), client);
    }
  }

  #frontendError({ message }: TrlError, client: Client): Promise<Answer> {
    const reply = { bytes: this.frontend.error(message, client), errorCode: undefined };
    return client.frontend.inTurn(Promise.resolve(reply), true);
  }

  #noteError(error: unknown): TrlError {
    const known = this.#asTrlError(error);
    this.counters.errors.set(known.code, (this.counters.errors.get(known.code) ?? 0) + 1);
    return known;
  }

  /** A reply can be too large even for a string. */
  #encode(reply: Reply): EncodedReply {
    try {
      return { bytes: encodeFrame(reply), errorCode: reply.ok ? undefined : reply.error.code };
    } catch (error) {
      const known = this.#asTrlError(error);
      return { bytes: encodeFrame(errorReply(reply.id, known)), errorCode: known.code };
    }
  }

  #call(method: string, params: unknown, client: Client): unknown {
    if (!isMethodName(method)) throw unsupportedMethod(method);
    return this.router.call(method, params, client);
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
