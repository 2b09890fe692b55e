// An exchange as the protocol reference shows it (`>` sent, `<` received), held against the tables of the protocol.
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { errorCodes } from "../../src/protocol/errors.ts";
import { frontendMessages, frontendReplies, frontendTag } from "../../src/protocol/frontend.ts";
import { isMethodName, methods } from "../../src/protocol/methods.ts";
import { UnavailableData } from "../../src/protocol/runtime.ts";
import { validateParams } from "../../src/protocol/validate.ts";
import type { Frame } from "./wire.ts";

/** What is not as the tables say, a line of text each. */
export function faultsOf(exchange: string): string[] {
  const asked = new Map<unknown, Frame>();
  return exchange
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      try {
        const frame = JSON.parse(line.slice(2)) as Frame;
        if (line.startsWith("> ")) "type" in frame ? checkMessage(frame) : asked.set(frame["id"], frame);
        else if ("ok" in frame && "id" in frame) checkReply(frame, asked.get(frame["id"]));
        else checkEvent(frame);
        return [];
      } catch (error) {
        return [`${(error as Error).message}: ${line}`];
      }
    });
}

/** A request is looked at with its reply: some are shown because they are refused. */
function checkReply({ ok, data, error }: Frame, request: Frame | undefined): void {
  if (!ok && !(error.code in errorCodes)) throw new Error("unknown error code");
  if (!request) {
    if (ok) throw new Error("no request has this id");
    return; // errors are also shown by themselves
  }
  const { method, params } = request;
  if (!isMethodName(method)) throw new Error("unknown method");
  if (ok || error.code !== "INVALID_PARAMS") exactly(validateParams(method, params), params ?? {});
  if (ok) exactly(v.parse(methods[method].result, data), data);
  if (error?.data) exactly(v.parse(dataOf(error.code), error.data), error.data);
}

/** What an error of this code tells beside its message. */
const dataOf = (code: string): v.GenericSchema =>
  code === "RUNTIME_UNAVAILABLE" ? UnavailableData : methods["exec.run"].result;

/** Of the frontend dialect. A tag that nobody knows is shown for the answer to it. */
function checkMessage({ type, ...fields }: Frame): void {
  const tag = frontendTag(type);
  if (tag) exactly(v.parse(frontendMessages[tag], fields), fields);
}

function checkEvent(frame: Frame): void {
  const type = frame["type"] as string;
  if ((frontendReplies as readonly string[]).includes(type)) return;
  const table: Record<string, v.GenericSchema> =
    "stream_id" in frame ? methods["exec.stream"].events : methods["pty.subscribe"].events;
  const schema = table[type];
  if (!schema) throw new Error("unknown frame");
  exactly({ ...(v.parse(schema, frame) as Frame), type }, frame);
}

/** Schemas leave out what they do not know. */
function exactly(known: unknown, shown: unknown): void {
  if (!isDeepStrictEqual(known, shown)) throw new Error(`the tables know only ${JSON.stringify(known)}`);
}
