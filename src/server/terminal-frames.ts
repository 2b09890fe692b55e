// Encodes a terminal's output as frames. Subscribers at the same offset share one frame of each dialect (broadcast).
import type { TerminalSize } from "../core/terminal/drivers/driver.ts";
import type { Redraw } from "../core/terminal/screen/picture.ts";
import type { Terminal } from "../core/terminal/terminal.ts";
import { type ByteEncoder, base64Length } from "../util/byte-encoder.ts";
import { digitsInto, digitsOf, fewBytesMax, fewInto, fewToBase64 } from "../util/few-bytes.ts";

/** How a dialect writes the frames of a subscription; ids and numbers need no escaping. */
export interface TerminalDialect {
  /** The text before the base64 of an output frame; the same for all frames of a terminal. */
  outputStart(terminal: Terminal): string;
  /** A field up to its value, which is the offset; absent if the dialect has no offsets. */
  offsetField?: Uint8Array;
  /** The fields after the data of a redraw. */
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

/** Output bytes of one frame; its base64 fits into a socket's buffer in one write. */
const pieceBytesMax = 128 * 1024;
/** Frames cached for each dialect: slow subscribers are at other offsets than those that keep up. */
const cachedFramesMax = 4;
const envelopeBytesMax = 512;
const frameBytesMax = base64Length(pieceBytesMax) + envelopeBytesMax;

export interface OutputFrame {
  /** Valid until another frame is encoded. */
  frame: Uint8Array;
  end: number;
}

interface CachedFrame extends OutputFrame {
  /** The terminal's serial number, so that the cache does not keep an ended terminal alive. */
  serial: number;
  offset: number;
  /** The encoded `outputStart`, for other frames of the same terminal. */
  start: Uint8Array;
  /** The buffer of a long frame; reused after the frame has left the cache. */
  buffer: Buffer | undefined;
}

/** The cache of encoded output frames. */
export class TerminalFrames {
  readonly #cached = new Map<TerminalDialect, CachedFrame[]>();
  readonly #freeBuffers: Buffer[] = [];

  constructor(readonly encoder: ByteEncoder) {}

  /** Encodes as much as fits into one frame, from an offset in the ring up to `limit`. */
  output(terminal: Terminal, dialect: TerminalDialect, offset: number, limit: number): OutputFrame {
    // Frames end at multiples of the piece size, so slow subscribers meet at the same offsets and share frames again.
    const end = Math.min(limit, offset - (offset % pieceBytesMax) + pieceBytesMax);
    const { serial } = terminal;
    const cached = this.#cached.get(dialect) ?? [];
    if (cached.length === 0) this.#cached.set(dialect, cached);
    let start: Uint8Array | undefined;
    for (let i = cached.length - 1; i >= 0; i--) {
      const one = cached[i]!;
      if (one.serial !== serial) continue;
      if (one.offset === offset && one.end === end) return one;
      start = one.start;
    }
    start ??= latin1(dialect.outputStart(terminal));
    const piece = terminal.ring.view(offset, end - offset);
    const evicted = cached.length < cachedFramesMax ? undefined : cached.shift()!.buffer;
    if (evicted) this.#freeBuffers.push(evicted);
    const isShort = piece.length <= fewBytesMax;
    const buffer = isShort ? undefined : (this.#freeBuffers.pop() ?? Buffer.allocUnsafeSlow(frameBytesMax));
    const frame = buffer
      ? this.#longFrame(dialect, start, piece, offset, buffer)
      : shortFrame(dialect, start, piece, offset);
    const next = { frame, serial, offset, end: offset + piece.length, start, buffer };
    cached.push(next);
    return next;
  }

  #longFrame(
    dialect: TerminalDialect,
    start: Uint8Array,
    piece: Uint8Array,
    offset: number,
    buffer: Buffer,
  ): Uint8Array {
    buffer.set(start);
    const dataEnd = this.encoder.base64Into(buffer, start.length, piece);
    return buffer.subarray(0, endInto(buffer, dataEnd, dialect, offset));
  }
}

/** A frame of a few bytes, such as an echo, without the fixed costs of `longFrame`. */
function shortFrame(
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

/** Writes what follows the data; returns the length of the frame. */
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
