// The outer shape of a request and of its reply.
import { type ErrorCode, TrlError } from "./errors.ts";
import { refuseCostly } from "./json-cost.ts";

/** A number that JavaScript would round travels as its source text (`JSON.rawJSON`). */
export type RequestId = string | number | RawJson;
interface RawJson {
  rawJSON: string;
}
declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
  }
}

export interface Request {
  id: RequestId;
  method: string;
  params: unknown;
}

export type Reply =
  | { id: RequestId; ok: true; data: unknown }
  | { id: RequestId; ok: false; error: { code: ErrorCode; message: string; data?: unknown } };

/** The id of a reply to a line that is not a request. */
export const unknownId = "unknown";

/** Integers with more digits may be rounded. */
const countDigitsMax = 15;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** A line parsed as JSON, with its text: a numeric id is echoed as the client wrote it. */
export interface Message {
  text: string;
  fields: Record<string, unknown>;
}

export function parseMessage(line: Uint8Array): Message {
  refuseCostly(line);
  const text = decodeUtf8(line);
  return { text, fields: parseJsonObject(text) };
}

/** Ids are echoed in every reply; longer ones are refused. */
const idBytesMax = 64 * 1024;
/** `idInFront` searches so much of a line that is not parsed. */
const frontBytes = 256;
/** The UTF-8 length of one UTF-16 unit. */
const utf8BytesMax = 3;

/** The id of a line that is too costly to parse, if it is the first field: the client waits for a reply with it. */
export function idInFront(line: Uint8Array): RequestId {
  const front = new TextDecoder().decode(line.subarray(0, frontBytes));
  const [, id] =
    /^\s*\{\s*"id"\s*:\s*("(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt])*"|\d{1,15})\s*,/.exec(front) ?? [];
  return id === undefined ? unknownId : (JSON.parse(id) as RequestId);
}

/** Messages of the frontend dialect have `type` instead of `method`. */
export const isFrontendMessage = ({ fields }: Message): boolean =>
  typeof fields["type"] === "string" && fields["method"] === undefined;

export function requestOf({ text, fields }: Message): Request {
  const { id, method, params } = fields;
  if (typeof id !== "string" && typeof id !== "number") throw malformed("id: expected a string or a number");
  if (typeof method !== "string") throw malformed("method: expected a string");
  const echoed = typeof id === "string" || isWrittenAs(id, text) ? id : sourceOfId(id, text);
  if (isTooLong(echoed)) throw malformed(`id: longer than ${idBytesMax} bytes; choose a shorter one`);
  return { id: echoed, method, params };
}

function isTooLong(id: RequestId): boolean {
  if (typeof id === "number") return false;
  const text = typeof id === "string" ? id : id.rawJSON;
  return text.length * utf8BytesMax > idBytesMax && new TextEncoder().encode(text).length > idBytesMax;
}

/** Whether JSON.stringify writes the number as the client did; not so for `1.0`, `-0` and 20 digits. */
function isWrittenAs(id: number, text: string): boolean {
  if (isWrittenFirst(id, text)) return true;
  const written = `"id":${JSON.stringify(id)}`;
  const at = text.indexOf(written);
  return at !== -1 && /[,}\s]/.test(text[at + written.length] ?? "");
}

const idField = '{"id":';
const space = 0x20;
const comma = 0x2c;
const zero = 0x30;

/** The usual case, without a search: the id is the first field and a plain count. */
function isWrittenFirst(id: number, text: string): boolean {
  for (let i = 0; i < idField.length; i++) if (text.charCodeAt(i) !== idField.charCodeAt(i)) return false;
  let at = idField.length;
  if (text.charCodeAt(at) === space) at++;
  const first = at;
  let written = 0;
  for (; at < first + countDigitsMax; at++) {
    const digit = text.charCodeAt(at) - zero;
    if (!(digit >= 0 && digit <= 9)) break;
    written = written * 10 + digit;
  }
  const isCount = at > first && (at === first + 1 || text.charCodeAt(first) !== zero);
  return isCount && written === id && text.charCodeAt(at) === comma;
}

/** The id as the client wrote it. */
function sourceOfId(id: number, text: string): RequestId {
  try {
    return JSON.rawJSON(findSource(text));
  } catch {
    // Nested too deeply for a parse with a reviver: take the first number that looks like an id.
    return JSON.rawJSON(/"id"\s*:\s*(-?\d[\d.eE+-]*)/.exec(text)?.[1] ?? JSON.stringify(id));
  }
}

function findSource(text: string): string {
  const sources = new Map<unknown, string>();
  const root: unknown = JSON.parse(text, function (this: unknown, key, value, context?: { source: string }) {
    if (key === "id" && context?.source) sources.set(this, context.source);
    return value;
  });
  return sources.get(root) ?? "null";
}

function decodeUtf8(line: Uint8Array): string {
  try {
    return decoder.decode(line);
  } catch {
    throw malformed("the line is not valid UTF-8");
  }
}

function parseJsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed("the line is not valid JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed("a request is a JSON object");
  }
  return value as Record<string, unknown>;
}

function malformed(message: string): TrlError {
  return new TrlError("INVALID_PARAMS", message);
}

export function okReply(id: RequestId, data: unknown): Reply {
  return { id, ok: true, data };
}

export function errorReply(id: RequestId, error: TrlError): Reply {
  const { code, message, data } = error;
  return { id, ok: false, error: data === undefined ? { code, message } : { code, message, data } };
}
