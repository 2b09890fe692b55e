// Server-sent events. The id of an event holds the client's offsets: with it as Last-Event-ID, a stream or a terminal
// resumes there, and a command does not run a second time.
import { TrlError } from "../../../protocol/errors.ts";
import type { Encoding } from "../../../protocol/exec.ts";
import { isMethodName, methods } from "../../../protocol/methods.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Delay before a client reconnects: an upgraded daemon listens all the time, a restarted one soon. */
const reconnectMs = 1000;

export function eventFormat(encoding: unknown): (frame: Uint8Array) => Uint8Array {
  const offsets = { stdout: 0, stderr: 0 };
  let opening = `retry: ${reconnectMs}\n`;
  return (frame) => {
    const text = decoder.decode(frame).trimEnd();
    const fields = JSON.parse(text) as Fields;
    const id = idAfter(fields, offsets, encoding === "base64" ? "base64" : "utf8");
    const event = `${id === undefined ? "" : `id: ${id}\n`}event: ${fields.type ?? "reply"}\ndata: ${text}\n\n`;
    const block = opening + event;
    opening = "";
    return encoder.encode(block);
  };
}

type Offsets = { stdout: number; stderr: number };

interface Fields {
  id?: unknown;
  type?: string;
  stream_id?: string;
  session_id?: string;
  data?:
    | string
    | {
        stream_id?: string;
        session_id?: string;
        stdout_offset?: number;
        stderr_offset?: number;
        offset?: number;
      };
  offset?: number;
  bytes?: number;
  encoding?: string;
  redraw?: boolean;
  from?: number;
  to?: number;
  stream?: "stdout" | "stderr";
}

function idAfter(fields: Fields, offsets: Offsets, encoding: Encoding): string | undefined {
  const { type, stream_id, session_id, offset = 0 } = fields;
  if (type === undefined) {
    if (typeof fields.data !== "object") return undefined;
    offsets.stdout = fields.data.stdout_offset ?? 0;
    offsets.stderr = fields.data.stderr_offset ?? 0;
    if (fields.data.stream_id) return `${fields.data.stream_id}:${offsets.stdout}:${offsets.stderr}`;
    return undefined;
  }
  const data = typeof fields.data === "string" ? fields.data : "";
  if (stream_id !== undefined) {
    if (type === "stdout" || type === "stderr") {
      offsets[type] = offset + (fields.bytes ?? Buffer.byteLength(data, encoding));
    } else if (type === "gap" && fields.stream) offsets[fields.stream] = fields.to ?? 0;
    return `${stream_id}:${offsets.stdout}:${offsets.stderr}`;
  }
  if (session_id === undefined) return undefined;
  if (type === "gap") return `${session_id}:${fields.to}`;
  if (type !== "output") return undefined;
  return `${session_id}:${fields.redraw ? offset : offset + Buffer.byteLength(data, "base64")}`;
}

/**
 * The request that resumes at the offsets of Last-Event-ID. `exec.stream` refuses an invalid id: a client that sends an
 * id has had a reply before, and its command must not run a second time.
 */
export function resumed(
  request: Record<string, unknown>,
  lastEventId: string | null,
): Record<string, unknown> {
  if (!lastEventId || !hasEvents(request["method"])) return request;
  const params = (request["params"] ?? {}) as Record<string, unknown>;
  const resume = request["method"] === "pty.subscribe" ? terminalAt : streamAt;
  const changed = resume(lastEventId, params);
  if (changed) return { ...request, ...changed };
  if (request["method"] !== "exec.stream") return request;
  throw new TrlError("INVALID_PARAMS", "Last-Event-ID: not the id of an event of such a stream");
}

type Resumed = { method: string; params: Record<string, unknown> } | undefined;

function streamAt(
  lastEventId: string,
  { stream_id, encoding, stall_timeout_s }: Record<string, unknown>,
): Resumed {
  const [, streamId, stdout, stderr] = /^(x-[0-9a-f]{8,}):(\d{1,15}):(\d{1,15})$/.exec(lastEventId) ?? [];
  if (!streamId || (stream_id !== undefined && stream_id !== streamId)) return undefined;
  const offsets = { stdout_offset: Number(stdout), stderr_offset: Number(stderr) };
  return { method: "exec.attach", params: { stream_id: streamId, ...offsets, encoding, stall_timeout_s } };
}

function terminalAt(lastEventId: string, { session_id }: Record<string, unknown>): Resumed {
  const [, sessionId, offset] = /^(.+):(\d{1,15})$/.exec(lastEventId) ?? [];
  if (sessionId === undefined || sessionId !== session_id) return undefined;
  return { method: "pty.subscribe", params: { session_id: sessionId, from: Number(offset) } };
}

/** Whether frames follow the reply of the method. */
export const hasEvents = (method: unknown): boolean =>
  typeof method === "string" && isMethodName(method) && "events" in methods[method];
