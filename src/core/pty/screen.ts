// A terminal's screen, made when it is asked for. Output is only kept, up to a limit; then, or when somebody wants to
// see, or when the program asks its terminal something and nobody else is there to answer, the emulator reads it.
import type { Packing, Unpacking } from "../../protocol/handover/pieces.ts";
import type { ScreenState } from "../../protocol/handover/terminals.ts";
import {
  emulatorBytes,
  emulatorIdleMs,
  emulatorsMax,
  floodScreenBytes,
  scrollbackLines,
  unreadScreenBytes,
} from "../limits.ts";
import { collectGarbage } from "../process/garbage.ts";
import { endOfLastCharacter } from "../process/stream-log.ts";
import type { TerminalSize } from "./driver.ts";
import { Emulator } from "./emulator.ts";
import { isPlain, skipFlood } from "./flood-skip.ts";
import type { OutputRing } from "./output-ring.ts";

/** Pieces in which output is read, so that whoever looks in between misses no line. */
const pieceBytes = 4096;

/**
 * Device attributes and status, modes, window and keyboard reports, colours, terminfo: questions to a terminal. The
 * expression may find more than there is, never less than the emulator answers.
 */
const question = /\x1b(?:\[[?>=<]?[\d;:]*(?:[cnxqtu]|\$p)|\]\d+;[^\x07\x1b]*\?|P[+$]q|Z)|\x05/;
const questionBytesMax = 64;

const newline = 0x0a;
const resizesMax = 32;
/** A sequence that is longer is a picture or the like, of which nobody knows where it began. */
const sequenceBytesMax = 4096;

/** Bytes of a character that is not whole yet. */
const cutCharacterBytes = (bytes: Uint8Array): number => bytes.length - endOfLastCharacter(bytes);

/** Those with an emulator, the one that was used last at the end. */
const awake = new Set<Screen>();

/** Some hundred terminals may be looked at one after the other: not all of their emulators have to be there. */
function restOthers(used: Screen): void {
  awake.delete(used);
  awake.add(used);
  if (awake.size <= emulatorsMax) return;
  for (const screen of awake) {
    if (screen === used || !screen.rest(0)) continue;
    collectGarbage(emulatorBytes);
    return;
  }
}

/** With which it is to be made again. */
export const firstSizeOf = (state: ScreenState | undefined): TerminalSize | undefined =>
  state?.kind === "replay" ? state.firstSize : state?.size;

/** Sees the emulator after each piece. */
export type Look = (emulator: Emulator) => void;

export class Screen {
  readonly #ring: OutputRing;
  readonly #onReply: (text: string) => void;
  #emulator: Emulator | undefined;
  /** Where reading has come to. */
  #readTo = 0;
  /** Before this offset somebody else was there to answer. */
  #answeredTo = 0;
  readonly #firstSize: TerminalSize;
  #resizes: (TerminalSize & { offset: number })[] = [];
  #resizesDone = 0;
  #lastUse = performance.now();
  /** It cannot be made again as it is. */
  #isKept = false;
  /** From there on the output is text, line ends and colours. */
  #plainFrom = 0;
  /** There is none behind it. */
  #lastEscape = 0;

  constructor(ring: OutputRing, size: TerminalSize, onReply: (text: string) => void) {
    this.#ring = ring;
    this.#firstSize = size;
    this.#onReply = onReply;
  }

  /** As another program has left it. What was printed until then has been answered there. */
  takeOver(state: ScreenState, given: Unpacking): void {
    const { end } = this.#ring;
    this.#answeredTo = this.#plainFrom = this.#lastEscape = end;
    if (state.kind === "replay") {
      this.#resizes = state.resizes;
      return;
    }
    this.#isKept = true; // it is not made again of what is in the ring
    this.#readTo = state.goesOnAt;
    this.#wake().write(given.bytes(state.data));
  }

  pack(packing: Packing): ScreenState {
    if (this.canForget) return { kind: "replay", firstSize: this.#firstSize, resizes: this.#resizes };
    const emulator = this.read();
    const data = packing.bytes(Buffer.from(emulator.redraw(scrollbackLines)));
    return { kind: "redraw", size: emulator.size, data, goesOnAt: this.boundary };
  }

  resized(size: TerminalSize): void {
    const { end } = this.#ring;
    if (this.#resizes.at(-1)?.offset === end && this.#resizesDone < this.#resizes.length) this.#resizes.pop();
    this.#resizes.push({ ...size, offset: end });
    if (this.#resizes.length <= resizesMax) return;
    // To repeat them all would take longer than to keep what they have made.
    this.#isKept = true;
    this.read();
  }

  /** After each push to the ring. `isAttended`: a real terminal shows the output and answers its questions. */
  printed(chunk: Uint8Array, isAttended: boolean): void {
    const { end } = this.#ring;
    if (!isPlain(chunk)) this.#plainFrom = end;
    if (isAttended) this.#answeredTo = end;
    else if (this.#mayAsk(chunk)) this.read();
    if (end - this.#readTo > floodScreenBytes) this.#skipOrRead();
  }

  /** The emulator, with all output read. `look` sees it after every few lines. */
  read(look?: Look): Emulator {
    this.#lastUse = performance.now();
    const emulator = this.#wake();
    restOthers(this);
    if (!look && this.#ring.end - this.#readTo > unreadScreenBytes) this.#skip(emulator);
    this.#readUpTo(this.#ring.end, emulator, look);
    return emulator;
  }

  /** Whether all output since the beginning is there to be read again. */
  get canForget(): boolean {
    return this.#ring.start === 0 && this.#ring.end <= unreadScreenBytes && !this.#isKept;
  }

  /** Where the output goes on for somebody who has got a redraw: not in the middle of a sequence or a character. */
  get boundary(): number {
    const { start, end } = this.#ring;
    const tail = this.#ring.copy(Math.max(start, end - sequenceBytesMax));
    if (this.read().isBetweenSequences) return end - cutCharacterBytes(tail);
    const begun = tail.lastIndexOf(0x1b);
    return begun === -1 ? end : end - tail.length + begun;
  }

  /** The emulator is given back where it can be made again. True where it was. */
  rest(idleMs = emulatorIdleMs): boolean {
    if (!this.#emulator || performance.now() - this.#lastUse < idleMs || !this.canForget) return false;
    this.#answeredTo = this.#readTo;
    this.#ring.compact();
    this.dispose();
    this.#readTo = 0;
    this.#resizesDone = 0;
    return true;
  }

  dispose(): void {
    awake.delete(this);
    this.#emulator?.dispose();
    this.#emulator = undefined;
  }

  #wake(): Emulator {
    this.#emulator ??= new Emulator(this.#firstSize, (text) => {
      if (this.#readTo >= this.#answeredTo) this.#onReply(text);
    });
    return this.#emulator;
  }

  /** A question may come in pieces. */
  #mayAsk(chunk: Uint8Array): boolean {
    const { start, end } = this.#ring;
    const from = Math.max(start, end - chunk.length - questionBytesMax);
    if (from > this.#lastEscape && !chunk.includes(0x1b) && !chunk.includes(0x05)) return false;
    this.#lastEscape = end;
    return question.test(Buffer.from(this.#ring.copy(from).buffer).toString("latin1"));
  }

  /** There is more than may wait. */
  #skipOrRead(): void {
    const emulator = this.#wake();
    if (!this.#skip(emulator)) this.#readUpTo(this.#ring.end, emulator);
  }

  /** Leaves out what cannot show; false where that is nothing. */
  #skip(emulator: Emulator): boolean {
    const ring = this.#ring;
    // From the beginning of a line on, behind the last of what is not plain.
    const from = Math.max(this.#readTo, this.#plainFrom);
    const lineEnd = ring.copy(from, Math.min(ring.end, from + pieceBytes)).indexOf(newline) + 1;
    if (lineEnd === 0) return false;
    this.#readUpTo(from + lineEnd, emulator);
    if (this.#resizesDone < this.#resizes.length || !emulator.scrollsPlainly) return false;
    const skip = skipFlood(ring, this.#readTo, emulator.size.rows);
    if (!skip) return false;
    emulator.write(`\r${skip.colours}`); // behind a line end, whatever the line before was
    this.#readTo = skip.to;
    return true;
  }

  #readUpTo(end: number, emulator: Emulator, look?: Look): void {
    for (;;) {
      const resize = this.#resizes[this.#resizesDone];
      if (resize && resize.offset <= this.#readTo) {
        emulator.resize(resize);
        this.#resizesDone++;
        continue;
      }
      if (this.#readTo >= end) break;
      const boundary = this.#answeredTo > this.#readTo ? this.#answeredTo : end;
      const until = Math.min(end, boundary, resize?.offset ?? end);
      const piece = this.#ring.view(this.#readTo, Math.min(until - this.#readTo, pieceBytes));
      emulator.write(piece);
      this.#readTo += piece.length;
      look?.(emulator);
    }
    if (this.#ring.start === 0 && !this.#isKept) return;
    this.#resizes.splice(0, this.#resizesDone); // they will not be wanted again
    this.#resizesDone = 0;
  }
}
