// Reads the fields of a frame that forwarding needs from its first and last characters, without parsing the output
// between them. Frames in another field order are parsed as a whole.
import { type LostError, lostReason } from "../../protocol/exec.ts";

export interface RemoteFrame {
  /** Id of the stream or the terminal. */
  id: string;
  type: string;
  text: string;
}

const frameHead = /^\{"(?:stream_id|session_id)":"([^"\\]*)","type":"(\w+)"/;

/** Undefined if the line is a reply. Throws a SyntaxError or TypeError if it is no JSON object. */
export function frameOf(text: string): RemoteFrame | undefined {
  const quick = frameHead.exec(text);
  if (quick) return { id: quick[1]!, type: quick[2]!, text };
  if (text.startsWith('{"id":')) return undefined;
  const { ok, stream_id, session_id, type } = JSON.parse(text) as Record<string, unknown>;
  if (ok !== undefined || typeof type !== "string") return undefined;
  return { id: String(stream_id ?? session_id), type, text };
}

export const fieldsOf = ({ text }: RemoteFrame) => JSON.parse(text) as Record<string, unknown>;

/** An exit frame for the client. The error of a loss gets the client's name for the runtime instead of "host". */
export function exitText(frame: RemoteFrame, runtime: string): string {
  if (!frame.text.includes(`"reason":"${lostReason}"`)) return frame.text;
  const fields = fieldsOf(frame);
  const error = fields["error"] as LostError | undefined;
  const named = error && { ...error, data: { ...(error.data as object), runtime } };
  return JSON.stringify({ ...fields, error: named });
}

export interface Output {
  offset: number;
  /** Offset of the byte after it. */
  end: number;
  isRedraw: boolean;
}

const tailChars = 120;
const streamTail = /","offset":(\d+)(?:,"bytes":\d+)?,"end":(\d+)\}$/;

/** Offsets of a frame of a command's output. */
export function streamOutput(frame: RemoteFrame): Output {
  const tail = streamTail.exec(frame.text.slice(-tailChars));
  if (tail) return { offset: Number(tail[1]), end: Number(tail[2]), isRedraw: false };
  const { offset, end, bytes, data } = fieldsOf(frame) as Record<string, number> & { data: string };
  const length = bytes ?? Buffer.byteLength(String(data));
  return { offset: offset!, end: end ?? offset! + length, isRedraw: false };
}

/** The frame as the daemon would send it to a client without a window. */
export const withoutEnd = (text: string): string =>
  text.slice(0, -tailChars) + text.slice(-tailChars).replace(/,"end":\d+\}$/, "}");

const terminalHead = /^\{"session_id":"[^"\\]*","type":"output","data":"/;
const terminalTail = /","offset":(\d+)(,"redraw":true)?\}$/;

export interface TerminalOutput extends Output {
  /** In base64. */
  data: string;
}

/** Offsets and data of a frame of a terminal's output. */
export function terminalOutput(frame: RemoteFrame): TerminalOutput {
  const { text } = frame;
  const head = terminalHead.exec(text);
  const tail = terminalTail.exec(text.slice(-tailChars));
  const { data, offset, redraw } =
    head && tail
      ? {
          data: text.slice(head[0].length, text.length - tail[0].length),
          offset: Number(tail[1]),
          redraw: tail[2] !== undefined,
        }
      : (fieldsOf(frame) as unknown as { data: string; offset: number; redraw?: boolean });
  const isRedraw = redraw === true;
  return { data, offset, isRedraw, end: isRedraw ? offset : offset + decodedBytes(data) };
}

function decodedBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}
