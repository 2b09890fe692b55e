// xterm.js, headless, with corrections of what its serializer omits. Only this file uses internals of xterm.js; its
// version is pinned, and a property test checks the result.
import { SerializeAddon } from "@xterm/addon-serialize";
import { type IBufferLine, Terminal } from "@xterm/headless";
import { scrollbackLines } from "../../limits.ts";
import type { TerminalSize } from "../drivers/driver.ts";
import { type Attributes, paintDifference, resetSequence, sgrOf } from "./row-painter.ts";

/** What a line stores outside of its cells: combined characters, and attributes such as underline colours. */
interface InnerLine {
  _combined: Record<number, string>;
  _extendedAttrs: Record<number, unknown>;
}

interface InnerBuffer {
  lines: { length: number; get(at: number): InnerLine | undefined };
}

interface Inner {
  buffer: { scrollTop: number; scrollBottom: number };
  coreService: {
    isCursorHidden: boolean;
    decPrivateModes: { cursorStyle?: "block" | "underline" | "bar"; cursorBlink?: boolean };
  };
  coreMouseService: { activeEncoding: string };
  buffers: { normal: InnerBuffer; alt: InnerBuffer };
  _inputHandler: {
    /** Synchronous; the public `write` is deferred by a timer. */
    parse(data: Uint8Array | string): void;
    _parser: { currentState: number; reset(): void };
    _curAttrData: Attributes;
  } & Record<Repeat, (params: { params: number[]; length: number }) => boolean>;
}

/**
 * Sequences that the emulator repeats as often as their parameter says: with a few bytes, a program could keep it busy for
 * minutes or fill the memory. Repeating more often than the screen is large makes no difference.
 */
const repeats = {
  S: "scrollUp",
  T: "scrollDown",
  L: "insertLines",
  M: "deleteLines",
  I: "cursorForwardTab",
  Z: "cursorBackwardTab",
  b: "repeatPrecedingCharacter",
} as const;
type Repeat = (typeof repeats)[keyof typeof repeats];

/** A program may set a title of megabytes with each line. */
const titleCharsMax = 1024;

/** Limit for finding the beginning of a wrapped line above the screen: a line without an end may fill the history. */
const wrappedRowsMax = 100;

const cellBytes = 12;
const attributeBytes = 100;

const mouseEncodings: Record<string, string> = { SGR: "\x1b[?1006h", SGR_PIXELS: "\x1b[?1016h" };
const mouseModes = {
  none: "",
  x10: "\x1b[?9h",
  vt200: "\x1b[?1000h",
  drag: "\x1b[?1002h",
  any: "\x1b[?1003h",
};
const cursorStyles = { block: 1, underline: 3, bar: 5 };

export class Emulator {
  readonly #terminal: Terminal;
  readonly #inner: Inner;
  readonly #serializer: SerializeAddon;
  #title = "";
  #linesScrolled = 0;

  constructor(size: TerminalSize, onReply: (text: string) => void) {
    this.#terminal = new Terminal({
      ...size,
      scrollback: scrollbackLines,
      allowProposedApi: true,
      logLevel: "off",
    });
    this.#inner = innerOf(this.#terminal);
    this.#serializer = new SerializeAddon();
    this.#terminal.loadAddon(this.#serializer as never);
    this.#terminal.onData(onReply);
    this.#terminal.onScroll(() => {
      this.#linesScrolled++;
    });
    this.#terminal.onTitleChange((title) => {
      this.#title = title.slice(0, titleCharsMax);
    });
    this.#boundRepeats();
    // Hyperlinks are ignored: no snapshot shows them, and the emulator iterates over all of them for each new line.
    this.#terminal.parser.registerOscHandler(8, () => true);
  }

  #boundRepeats(): void {
    for (const [final, name] of Object.entries(repeats))
      this.#terminal.parser.registerCsiHandler({ final }, ([count]) => {
        const { cols, rows } = this.#terminal;
        const screen = final === "b" ? cols * rows : Math.max(cols, rows);
        if (typeof count !== "number" || count <= screen) return false;
        // Ends in the same column as the unbounded repetition.
        const bounded = final === "b" ? screen + (count % cols) : screen;
        return this.#inner._inputHandler[name]({ params: [bounded], length: 1 });
      });
  }

  get size(): TerminalSize {
    return { cols: this.#terminal.cols, rows: this.#terminal.rows };
  }

  get title(): string {
    return this.#title;
  }

  /** Counts all scrolled lines since the beginning, including those no longer in the history. */
  get linesScrolled(): number {
    return this.#linesScrolled;
  }

  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  get cursor(): { row: number; col: number; visible: boolean } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    const col = Math.min(cursorX, this.#terminal.cols - 1);
    return { row: cursorY, col, visible: !this.#inner.coreService.isCursorHidden };
  }

  write(data: Uint8Array | string): void {
    parse(this.#inner, data);
  }

  resize({ cols, rows }: TerminalSize): void {
    this.#terminal.resize(cols, rows);
  }

  /** Memory of all lines, with combined characters and extended attributes. */
  get estimatedBytes(): number {
    const { normal, alt } = this.#inner.buffers;
    return bytesOf(normal, this.#terminal.cols) + bytesOf(alt, this.#terminal.cols);
  }

  /** The parser has not read a part of a sequence. */
  get isBetweenSequences(): boolean {
    return this.#inner._inputHandler._parser.currentState === 0;
  }

  /** Plain text scrolls the whole screen: no scroll region, mode or incomplete sequence prevents it. */
  get scrollsPlainly(): boolean {
    const { buffer } = this.#inner;
    const { wraparoundMode, insertMode, originMode } = this.#terminal.modes;
    const isWhole = buffer.scrollTop === 0 && buffer.scrollBottom === this.#terminal.rows - 1;
    return isWhole && wraparoundMode && !insertMode && !originMode && this.isBetweenSequences;
  }

  /** Lines of the screen and of so many rows of the history. */
  lines(scrollback: number, read = textOf): string[] {
    const { active } = this.#terminal.buffer;
    const first = Math.max(0, active.baseY - scrollback);
    const count = active.baseY + this.#terminal.rows - first;
    return Array.from({ length: count }, (_, at) => read(active.getLine(first + at)));
  }

  /** The text for pattern searches, in which wrapped rows are joined to lines. */
  logicalText(scrollback: number): string {
    const { active } = this.#terminal.buffer;
    let first = Math.max(0, active.baseY - scrollback);
    const earliest = Math.max(0, first - wrappedRowsMax);
    while (first > earliest && active.getLine(first)?.isWrapped) first--;
    let text = "";
    for (let at = first; at < active.baseY + this.#terminal.rows; at++) {
      const isContinued = active.getLine(at + 1)?.isWrapped === true;
      const line = active.getLine(at);
      // A wide character that did not fit into the last column leaves that column empty.
      const isPadded = isContinued && line?.getCell(this.#terminal.cols - 1)?.getCode() === 0;
      text += line?.translateToString(!isContinued, 0, this.#terminal.cols - (isPadded ? 1 : 0)) ?? "";
      if (!isContinued) text += "\n";
    }
    return text;
  }

  /** Sequences that bring any terminal of this size to the same content and modes. */
  redraw(scrollback: number): string {
    const { coreMouseService, coreService } = this.#inner;
    const { cursorStyle, cursorBlink } = coreService.decPrivateModes;
    const style = cursorStyle ? `\x1b[${cursorStyles[cursorStyle] + (cursorBlink ? 0 : 1)} q` : "";
    const title = this.#title ? `\x1b]2;${this.#title}\x07` : "";
    const screen = resetSequence + title + this.#buffers(scrollback);
    return (
      screen +
      this.#corrections(screen) +
      this.#restoreCursor() +
      this.#restoreModes() +
      (mouseEncodings[coreMouseService.activeEncoding] ?? "") +
      style +
      (coreService.isCursorHidden ? "\x1b[?25l" : "")
    );
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  /** Resets the pen before the alternate screen: the serializer does not, which fills that screen with the pen's colour. */
  #buffers(scrollback: number): string {
    const all = this.#serializer.serialize({ scrollback, excludeModes: true });
    if (!this.isAlternate) return all;
    const normal = this.#serializer.serialize({ scrollback, excludeModes: true, excludeAltBuffer: true });
    return `${normal}\x1b[0m${all.slice(normal.length)}`;
  }

  /** Corrects errors of the serializer, found by parsing its output. */
  #corrections(screen: string): string {
    const read = new Terminal({
      ...this.size,
      scrollback: 0,
      allowProposedApi: true,
      logLevel: "off",
    });
    parse(innerOf(read), screen);
    const corrections = paintDifference(
      this.#terminal.buffer.active,
      read.buffer.active,
      this.#terminal.rows,
    );
    read.dispose();
    return corrections;
  }

  /** Restores scroll region and origin mode, which move the cursor, then the cursor and the pen. */
  #restoreCursor(): string {
    const { scrollTop, scrollBottom } = this.#inner.buffer;
    const { originMode } = this.#terminal.modes;
    const { cursorX, cursorY, baseY } = this.#terminal.buffer.active;
    const hasRegion = scrollTop !== 0 || scrollBottom !== this.#terminal.rows - 1;
    const region = hasRegion ? `\x1b[${scrollTop + 1};${scrollBottom + 1}r` : "";
    const row = (originMode ? cursorY - scrollTop : cursorY) + 1;
    const moveTo = (column: number) => `${region}${originMode ? "\x1b[?6h" : ""}\x1b[${row};${column + 1}H`;
    const pen = sgrOf(this.#inner._inputHandler._curAttrData);
    if (cursorX < this.#terminal.cols) return moveTo(cursorX) + pen;
    // Pending wrap: the cursor is after the last column. Writing the last character again restores that state.
    const line = this.#terminal.buffer.active.getLine(baseY + cursorY)!;
    const last = line.getCell(cursorX - 1)!;
    const start = last.getWidth() === 0 ? cursorX - 2 : cursorX - 1;
    const cell = line.getCell(start)!;
    return moveTo(start) + sgrOf(cell) + (cell.getChars() || " ") + pen;
  }

  #restoreModes(): string {
    const { modes } = this.#terminal;
    const switches = [
      modes.applicationCursorKeysMode && "\x1b[?1h",
      modes.applicationKeypadMode && "\x1b=",
      modes.bracketedPasteMode && "\x1b[?2004h",
      modes.insertMode && "\x1b[4h",
      modes.reverseWraparoundMode && "\x1b[?45h",
      modes.sendFocusMode && "\x1b[?1004h",
      !modes.wraparoundMode && "\x1b[?7l",
      mouseModes[modes.mouseTrackingMode],
    ];
    return switches.filter(Boolean).join("");
  }
}

function bytesOf({ lines }: InnerBuffer, cols: number): number {
  let bytes = lines.length * cols * cellBytes;
  for (let at = 0; at < lines.length; at++) {
    const line = lines.get(at);
    if (!line) continue;
    for (const key in line._combined) bytes += attributeBytes + 2 * line._combined[key]!.length;
    for (const _ in line._extendedAttrs) bytes += attributeBytes;
  }
  return bytes;
}

const innerOf = (terminal: Terminal): Inner => (terminal as unknown as { _core: Inner })._core;

/**
 * Some output makes the emulator throw (e.g. `CSI 1 J` in the last corner). Resetting the parser limits the damage to
 * that sequence and the rest of its chunk.
 */
function parse({ _inputHandler }: Inner, data: Uint8Array | string): void {
  try {
    _inputHandler.parse(data);
  } catch {
    _inputHandler._parser.reset();
  }
}

const textOf = (line: IBufferLine | undefined): string => line?.translateToString(true) ?? "";
