// A terminal's output as frames, in each dialect made once and shared by all who are at the same place.
import type { TerminalSize } from "../core/terminal/drivers/driver.ts";
import type { Redraw } from "../core/terminal/screen/picture.ts";
import type { Terminal } from "../core/terminal/terminal.ts";
import { type ByteEncoder, base64Length } from "../util/byte-encoder.ts";
import { digitsInto, digitsOf, fewBytesMax, fewInto, fewToBase64 } from "../util/few-bytes.ts";

/** How a dialect writes what a subscriber is told; ids and numbers need no escaping. */
export interface TerminalDialect {
  /** What comes before the base64 of a piece of output; each time the same. */
  outputStart(terminal: Terminal): string;
  /** Behind that, where the dialect has it: a field up to its value, which is the offset. */
  offsetField?: Uint8Array;
  /** The same in a redraw. */
  redrawFields?(offset: number): string;
  resize?(terminal: Terminal, size: TerminalSize): string;
  gap?(terminal: Terminal, from: number, to: number): string;
  exit(terminal: Terminal): string;
}

export const methodDialect: TerminalDialect = {
  outputStart: ({ id }) => `{"session_id":"${id}","type":"output","data":"`,
  offsetField: latin1(',"offset":'),
  redrawFields: (offset) => `,"offset":${offset},"redraw":true`,
  resize: ({ id }, { cols, rows }) => `{"session_id":"${id}","type":"resize","cols":${cols},"rows":${rows}}`,
  gap: ({ id }, from, to) => `{"session_id":"${id}","type":"gap","from":${from},"to":${to}}`,
  exit: ({ id, exit, programEnd, ring }) =>
    `{"session_id":"${id}","type":"exit","exit_code":${exit!.exitCode},"signal":${JSON.stringify(exit!.signal)},"reason":"${programEnd.reason}","offset":${ring.end}}`,
};

const quote = 0x22;
const closingBrace = 0x7d;
const newline = 0x0a;

/** More than this of output is several frames. As base64 it still fits into a socket at once. */
const pieceBytesMax = 128 * 1024;

export interface OutputFrame {
  /** Valid until another frame is made. */
  frame: Uint8Array;
  end: number;
}

/** One of the last frames of a dialect. Those who are at the same place ask for it one after the other. */
interface Made extends OutputFrame {
  /** By its number: it may be forgotten before its frame. */
  serial: number;
  offset: number;
  /** What each of the terminal's frames begins with. */
  start: Uint8Array;
  /** What holds the frame, where it is a long one; for another when this one is forgotten. */
  memory: Buffer | undefined;
}

/** Who lags behind is at another place than who keeps up. */
const framesKept = 4;
const made = new Map<TerminalDialect, Made[]>();
const spareMemory: Buffer[] = [];
const envelopeBytesMax = 512;
const frameBytesMax = base64Length(pieceBytesMax) + envelopeBytesMax;

/** From an offset that is still in the ring up to `limit`, as much as there is for one frame. */
export function outputFrame(
  terminal: Terminal,
  { dialect, encoder }: { dialect: TerminalDialect; encoder: ByteEncoder },
  offset: number,
  limit: number,
): OutputFrame {
  // Where frames end is the same for all, so that those who lag come together again.
  const end = Math.min(limit, offset - (offset % pieceBytesMax) + pieceBytesMax);
  const { serial } = terminal;
  const frames = made.get(dialect) ?? [];
  if (frames.length === 0) made.set(dialect, frames);
  let start: Uint8Array | undefined;
  for (let i = frames.length - 1; i >= 0; i--) {
    const one = frames[i]!;
    if (one.serial !== serial) continue;
    if (one.offset === offset && one.end === end) return one;
    start = one.start;
  }
  start ??= latin1(dialect.outputStart(terminal));
  const piece = terminal.ring.view(offset, end - offset);
  const forgotten = frames.length < framesKept ? undefined : frames.shift()!.memory;
  if (forgotten) spareMemory.push(forgotten);
  const isEcho = piece.length <= fewBytesMax;
  const memory = isEcho ? undefined : (spareMemory.pop() ?? Buffer.allocUnsafeSlow(frameBytesMax));
  const frame = memory
    ? longFrame({ dialect, encoder }, start, piece, offset, memory)
    : echoFrame(dialect, start, piece, offset);
  const next = { frame, serial, offset, end: offset + piece.length, start, memory };
  frames.push(next);
  return next;
}

function longFrame(
  { dialect, encoder }: { dialect: TerminalDialect; encoder: ByteEncoder },
  start: Uint8Array,
  piece: Uint8Array,
  offset: number,
  memory: Buffer,
): Uint8Array {
  memory.set(start);
  const dataEnd = encoder.base64Into(memory, start.length, piece);
  return memory.subarray(0, endInto(memory, dataEnd, dialect, offset));
}

/** The same of a few bytes, which somebody waits for. */
function echoFrame(
  dialect: TerminalDialect,
  start: Uint8Array,
  piece: Uint8Array,
  offset: number,
): Uint8Array {
  const frame = new Uint8Array(start.length + base64Length(piece.length) + endLength(dialect, offset));
  endInto(frame, fewToBase64(frame, fewInto(frame, 0, start), piece), dialect, offset);
  return frame;
}

const endLength = ({ offsetField }: TerminalDialect, offset: number): number =>
  offsetField ? offsetField.length + digitsOf(offset) + 3 : 3;

/** Returns where it ends. */
function endInto(frame: Uint8Array, at: number, { offsetField }: TerminalDialect, offset: number): number {
  let end = at;
  frame[end++] = quote;
  if (offsetField) {
    end = fewInto(frame, end, offsetField) + digitsOf(offset);
    digitsInto(frame, end, offset);
  }
  frame[end++] = closingBrace;
  frame[end++] = newline;
  return end;
}

export function redrawFrame(
  terminal: Terminal,
  dialect: TerminalDialect,
  { data, offset }: Redraw,
): Uint8Array {
  const encoded = Buffer.from(data).toString("base64");
  return controlFrame(`${dialect.outputStart(terminal)}${encoded}"${dialect.redrawFields?.(offset) ?? ""}}`);
}

export const controlFrame = (text: string): Uint8Array => latin1(`${text}\n`);

function latin1(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
