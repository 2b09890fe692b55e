// A terminal's output as frames, in each dialect made once and shared by all who are at the same place.
import type { TerminalSize } from "../core/pty/driver.ts";
import type { Terminal } from "../core/pty/terminal.ts";
import { base64Into, base64Length } from "../util/base64-bytes.ts";

/** How a dialect writes what a subscriber is told; ids and numbers need no escaping. */
export interface TerminalDialect {
  /** What comes before and after the base64 of a piece of output. */
  output(terminal: Terminal, offset: number, isRedraw: boolean): [before: string, after: string];
  resize?(terminal: Terminal, size: TerminalSize): string;
  gap?(terminal: Terminal, from: number, to: number): string;
  exit(terminal: Terminal): string;
}

export const methodDialect: TerminalDialect = {
  output: ({ id }, offset, isRedraw) => [
    `{"session_id":"${id}","type":"output","data":"`,
    `","offset":${offset}${isRedraw ? ',"redraw":true' : ""}}`,
  ],
  resize: ({ id }, { cols, rows }) => `{"session_id":"${id}","type":"resize","cols":${cols},"rows":${rows}}`,
  gap: ({ id }, from, to) => `{"session_id":"${id}","type":"gap","from":${from},"to":${to}}`,
  exit: ({ id, exit, keeping, ring }) =>
    `{"session_id":"${id}","type":"exit","exit_code":${exit!.exitCode},"signal":${JSON.stringify(exit!.signal)},"reason":"${keeping.reason}","offset":${ring.end}}`,
};

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
  memory: Buffer;
}

/** Who lags behind is at another place than who keeps up. */
const framesKept = 4;
const made = new Map<TerminalDialect, Made[]>();
const envelopeBytesMax = 512;
const echoBytesMax = 256;
const encoder = new TextEncoder();
const frameBytesMax = base64Length(pieceBytesMax) + envelopeBytesMax;

/** From an offset that is still in the ring up to `limit`, as much as there is for one frame. */
export function outputFrame(
  terminal: Terminal,
  dialect: TerminalDialect,
  offset: number,
  limit: number,
): OutputFrame {
  // Where frames end is the same for all, so that those who lag come together again.
  const end = Math.min(limit, offset - (offset % pieceBytesMax) + pieceBytesMax);
  const frames = made.get(dialect) ?? [];
  if (frames.length === 0) made.set(dialect, frames);
  for (let i = frames.length - 1; i >= 0; i--) {
    const one = frames[i]!;
    if (one.offset === offset && one.end === end && one.serial === terminal.serial) return one;
  }
  const piece = terminal.ring.view(offset, end - offset);
  const memory = frames.length < framesKept ? Buffer.allocUnsafeSlow(frameBytesMax) : frames.shift()!.memory;
  const [before, after] = dialect.output(terminal, offset, false);
  const frame = memory.subarray(0, writeFrame(memory, before, piece, after));
  const next = { frame, serial: terminal.serial, offset, end: offset + piece.length, memory };
  frames.push(next);
  return next;
}

/** How long it is. An echo is a few bytes, and written in one go. */
function writeFrame(memory: Buffer, before: string, piece: Uint8Array, after: string): number {
  if (piece.length <= echoBytesMax)
    return encoder.encodeInto(`${before}${piece.toBase64()}${after}\n`, memory).written;
  let length = memory.write(before, 0, "latin1");
  length = base64Into(memory, length, piece);
  return length + memory.write(`${after}\n`, length, "latin1");
}

export function redrawFrame(terminal: Terminal, dialect: TerminalDialect, scrollback: number): Uint8Array {
  const [before, after] = dialect.output(terminal, terminal.picture.boundary, true);
  return controlFrame(
    before + Buffer.from(terminal.picture.view.redraw(scrollback)).toString("base64") + after,
  );
}

export const controlFrame = (text: string): Uint8Array => Buffer.from(`${text}\n`, "latin1");
