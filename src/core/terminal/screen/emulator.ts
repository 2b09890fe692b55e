// The terminal emulator of the field, headless, and what its serializer leaves out. A few of its inner parts are
// touched here and nowhere else; its version is pinned, and a property test holds the result.
import { SerializeAddon } from "@xterm/addon-serialize";
import { type IBufferLine, Terminal } from "@xterm/headless";
import { scrollbackLines } from "../../limits.ts";
import type { TerminalSize } from "../drivers/driver.ts";
import { resetSequence } from "./reset-sequence.ts";
import { type Attributes, paintDifference, sgrOf } from "./row-painter.ts";

/** Beside its cells a line keeps characters of several code points, and attributes such as underline colours. */
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
    /** At once, where the emulator's own `write` takes a timer's time. */
    parse(data: Uint8Array | string): void;
    _parser: { currentState: number; reset(): void };
    _curAttrData: Attributes;
  } & Record<Repeat, (params: { params: number[]; length: number }) => boolean>;
}

/**
 * Sequences that the emulator carries out as often as their parameter says: a program could keep it busy for minutes, or
 * have it fill the memory, with a few bytes. Beyond a whole screen, once more makes no difference.
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

/** Nobody reads more of a title, and a program may set one of megabytes with each line. */
const titleCharsMax = 1024;

/** A line that began further above the screen is not read from its beginning: one without an end would be all of it. */
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
    // A snapshot or a redraw shows no links, and each one costs the emulator an object that every new line visits.
    this.#terminal.parser.registerOscHandler(8, () => true);
  }

  #boundRepeats(): void {
    for (const [final, name] of Object.entries(repeats))
      this.#terminal.parser.registerCsiHandler({ final }, ([count]) => {
        const { cols, rows } = this.#terminal;
        const screen = final === "b" ? cols * rows : Math.max(cols, rows);
        if (typeof count !== "number" || count <= screen) return false;
        // The same column is reached as by all of them.
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

  /** Since the beginning, also where they are not kept any more. */
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

  /** What its lines take, with what they keep beside their cells. */
  get estimatedBytes(): number {
    const { normal, alt } = this.#inner.buffers;
    return bytesOf(normal, this.#terminal.cols) + bytesOf(alt, this.#terminal.cols);
  }

  /** Nothing is half read. */
  get isBetweenSequences(): boolean {
    return this.#inner._inputHandler._parser.currentState === 0;
  }

  /** Whether text that only scrolls would push out everything that is there, and nothing is half read. */
  get scrollsPlainly(): boolean {
    const { buffer } = this.#inner;
    const { wraparoundMode, insertMode, originMode } = this.#terminal.modes;
    const isWhole = buffer.scrollTop === 0 && buffer.scrollBottom === this.#terminal.rows - 1;
    return isWhole && wraparoundMode && !insertMode && !originMode && this.isBetweenSequences;
  }

  /** Lines of the screen, with so many of those above it. */
  lines(scrollback: number, read = textOf): string[] {
    const { active } = this.#terminal.buffer;
    const first = Math.max(0, active.baseY - scrollback);
    const count = active.baseY + this.#terminal.rows - first;
    return Array.from({ length: count }, (_, at) => read(active.getLine(first + at)));
  }

  /** What can be matched: long lines in one piece, although the screen breaks them. */
  logicalText(scrollback: number): string {
    const { active } = this.#terminal.buffer;
    let first = Math.max(0, active.baseY - scrollback);
    const earliest = Math.max(0, first - wrappedRowsMax);
    while (first > earliest && active.getLine(first)?.isWrapped) first--;
    let text = "";
    for (let at = first; at < active.baseY + this.#terminal.rows; at++) {
      const isContinued = active.getLine(at + 1)?.isWrapped === true;
      const line = active.getLine(at);
      // A wide character that did not fit in the last column leaves it empty.
      const isPadded = isContinued && line?.getCell(this.#terminal.cols - 1)?.getCode() === 0;
      text += line?.translateToString(!isContinued, 0, this.#terminal.cols - (isPadded ? 1 : 0)) ?? "";
      if (!isContinued) text += "\n";
    }
    return text;
  }

  /** Written to any terminal of this size, it shows the same and behaves the same. */
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

  /** The serializer enters the alternate screen with the pen still coloured, which would fill it with that colour. */
  #buffers(scrollback: number): string {
    const all = this.#serializer.serialize({ scrollback, excludeModes: true });
    if (!this.isAlternate) return all;
    const normal = this.#serializer.serialize({ scrollback, excludeModes: true, excludeAltBuffer: true });
    return `${normal}\x1b[0m${all.slice(normal.length)}`;
  }

  /** What the serializer gets wrong, found by reading what it wrote. */
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

  /** With the region and origin mode, which move it, and the pen. */
  #restoreCursor(): string {
    const { scrollTop, scrollBottom } = this.#inner.buffer;
    const { originMode } = this.#terminal.modes;
    const { cursorX, cursorY, baseY } = this.#terminal.buffer.active;
    const hasRegion = scrollTop !== 0 || scrollBottom !== this.#terminal.rows - 1;
    const region = hasRegion ? `\x1b[${scrollTop + 1};${scrollBottom + 1}r` : "";
    const row = (originMode ? cursorY - scrollTop : cursorY) + 1;
    const place = (column: number) => `${region}${originMode ? "\x1b[?6h" : ""}\x1b[${row};${column + 1}H`;
    const pen = sgrOf(this.#inner._inputHandler._curAttrData);
    if (cursorX < this.#terminal.cols) return place(cursorX) + pen;
    // Behind the last column, where the next character begins a new row: that comes of writing the last one again.
    const line = this.#terminal.buffer.active.getLine(baseY + cursorY)!;
    const last = line.getCell(cursorX - 1)!;
    const start = last.getWidth() === 0 ? cursorX - 2 : cursorX - 1;
    const cell = line.getCell(start)!;
    return place(start) + sgrOf(cell) + (cell.getChars() || " ") + pen;
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
 * A program may write what the emulator throws on (`CSI 1 J` in the last corner is one such thing). It costs that
 * sequence and what came with it, no more.
 */
function parse({ _inputHandler }: Inner, data: Uint8Array | string): void {
  try {
    _inputHandler.parse(data);
  } catch {
    _inputHandler._parser.reset();
  }
}

const textOf = (line: IBufferLine | undefined): string => line?.translateToString(true) ?? "";
