// Server-sent events. Each carries an id that says where the client is: sent back as Last-Event-ID, a stream or a
// terminal goes on from there, and a command is not run a second time.
import type { Encoding } from "../../protocol/exec.ts";
import { isMethodName, methods } from "../../protocol/methods.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export function eventFormat(encoding: unknown): (frame: Uint8Array) => Uint8Array {
  const offsets = { stdout: 0, stderr: 0 };
  return (frame) => {
    const text = decoder.decode(frame).trimEnd();
    const fields = JSON.parse(text) as Fields;
    const id = idAfter(fields, offsets, encoding === "base64" ? "base64" : "utf8");
    return encoder.encode(
      `${id === undefined ? "" : `id: ${id}\n`}event: ${fields.type ?? "reply"}\ndata: ${text}\n\n`,
    );
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

/** The request that goes on from where the client says it is. */
export function resumed(
  request: Record<string, unknown>,
  lastEventId: string | null,
): Record<string, unknown> {
  const params = (request["params"] ?? {}) as Record<string, unknown>;
  if (!lastEventId) return request;
  const [, streamId, stdout, stderr] = /^(x-[0-9a-f]{8}):(\d+):(\d+)$/.exec(lastEventId) ?? [];
  const isSame = request["method"] === "exec.attach" && params["stream_id"] === streamId;
  if (streamId && (request["method"] === "exec.stream" || isSame)) {
    const { encoding, stall_timeout_s } = params;
    const offsets = { stdout_offset: Number(stdout), stderr_offset: Number(stderr) };
    return {
      ...request,
      method: "exec.attach",
      params: { stream_id: streamId, ...offsets, encoding, stall_timeout_s },
    };
  }
  const [, sessionId, offset] = /^(.+):(\d+)$/.exec(lastEventId) ?? [];
  if (request["method"] !== "pty.subscribe" || sessionId !== params["session_id"]) return request;
  return { ...request, params: { session_id: sessionId, from: Number(offset) } };
}

/** Whether frames follow the reply to it. */
export const hasEvents = (method: unknown): boolean =>
  typeof method === "string" && isMethodName(method) && "events" in methods[method];
