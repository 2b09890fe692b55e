// Writes rows and attributes as escape sequences. The serializer of xterm.js keeps which lines wrap, but it is not exact:
// it omits empty rows with a background, and miscounts the cursor at the right margin. This file repaints such rows.
import type { IBuffer, IBufferCell, IBufferLine } from "@xterm/headless";

/** Resets a terminal in any state, so that a redraw can begin. Keeps the terminal's own history. */
export const resetSequence =
  "\x1b[?1049l\x1b[!p\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004;2026;45;66;6;1l" +
  "\x1b[4l\x1b[?7h\x1b[?25h\x1b[0 q\x1b[r\x1b(B\x0f\x1b[0m\x1b[H\x1b[2J";

/** Attributes of a cell or of the pen. */
export type Attributes = Pick<
  IBufferCell,
  | "getFgColorMode"
  | "getFgColor"
  | "getBgColorMode"
  | "getBgColor"
  | "isBold"
  | "isDim"
  | "isItalic"
  | "isUnderline"
  | "isBlink"
  | "isInverse"
  | "isInvisible"
  | "isStrikethrough"
  | "isOverline"
>;

/** The emulator's colour modes; any other mode except 0 is RGB. */
const palette16 = 0x1000000;
const palette256 = 0x2000000;

export function sgrOf(attributes: Attributes): string {
  const codes = [
    "0",
    attributes.isBold() && "1",
    attributes.isDim() && "2",
    attributes.isItalic() && "3",
    attributes.isUnderline() && "4",
    attributes.isBlink() && "5",
    attributes.isInverse() && "7",
    attributes.isInvisible() && "8",
    attributes.isStrikethrough() && "9",
    attributes.isOverline() && "53",
    colourCode(attributes.getFgColorMode(), attributes.getFgColor(), 30),
    colourCode(attributes.getBgColorMode(), attributes.getBgColor(), 40),
  ];
  return `\x1b[${codes.filter(Boolean).join(";")}m`;
}

function colourCode(mode: number, colour: number, base: number): string {
  if (mode === 0) return "";
  if (mode === palette16) return String(colour < 8 ? base + colour : base + 60 + colour - 8);
  if (mode === palette256) return `${base + 8};5;${colour}`;
  return `${base + 8};2;${colour >> 16};${(colour >> 8) & 255};${colour & 255}`;
}

/** Overwrites a row of the screen. */
export function paintRow(line: IBufferLine, row: number): string {
  let painted = "";
  let pen = "";
  for (let column = 0; column < line.length; ) {
    const cell = line.getCell(column)!;
    const sgr = sgrOf(cell);
    if (sgr !== pen) painted += sgr;
    pen = sgr;
    const text = cell.getChars();
    // The cursor is set for each cell, as a character at the right margin leaves it in a pending-wrap state.
    painted += `\x1b[${row + 1};${column + 1}H${text || emptied(sgr)}`;
    column += Math.max(1, cell.getWidth());
  }
  return painted;
}

/** A row as text with its attributes, without the unwritten cells at its end. */
export function styledRow(line: IBufferLine | undefined): string {
  let text = "";
  let pen = plainPen;
  const end = line ? lastWritten(line) : 0;
  for (let column = 0; line && column < end; ) {
    const cell = line.getCell(column)!;
    const sgr = sgrOf(cell);
    if (sgr !== pen) text += sgr;
    pen = sgr;
    text += cell.getChars() || " ";
    column += Math.max(1, cell.getWidth());
  }
  return pen === plainPen ? text : text + plainPen;
}

const plainPen = "\x1b[0m";

/** The column after the last cell with a character or a background. */
function lastWritten(line: IBufferLine): number {
  for (let column = line.length - 1; column >= 0; column--) {
    const cell = line.getCell(column)!;
    if (cell.getChars() !== "" || cell.getBgColorMode() !== 0 || cell.isInverse()) return column + 1;
  }
  return 0;
}

/** An erased cell can only have a background; a cell with other attributes is written as a space. */
const emptied = (sgr: string): string => (isBackground.test(sgr) ? "\x1b[1X" : " ");
const isBackground = /^\x1b\[0(?:;(?:4[0-7]|10[0-7]|48;[\d;]+))?m$/;

/** Repaints the rows in which `got` differs from `wanted`. */
export function paintDifference(wanted: IBuffer, got: IBuffer, rows: number): string {
  let painted = "";
  for (let row = 0; row < rows; row++) {
    const line = wanted.getLine(wanted.baseY + row);
    const other = got.getLine(got.baseY + row);
    if (line && !isSame(line, other)) painted += paintRow(line, row);
  }
  return painted;
}

/** The emulator packs attributes into two numbers; if these are equal, the attributes need no comparison. */
type Packed = IBufferCell & { fg: number; bg: number };

function isSame(line: IBufferLine, other: IBufferLine | undefined): boolean {
  if (!other) return false;
  let cell: IBufferCell | undefined;
  let otherCell: IBufferCell | undefined;
  for (let column = 0; column < line.length; column++) {
    cell = line.getCell(column, cell);
    otherCell = other.getCell(column, otherCell);
    if (!cell || !otherCell || (cell.getChars() || " ") !== (otherCell.getChars() || " ")) return false;
    if (cell.getWidth() !== otherCell.getWidth()) return false;
    const [a, b] = [cell as Packed, otherCell as Packed];
    if ((a.fg !== b.fg || a.bg !== b.bg) && sgrOf(cell) !== sgrOf(otherCell)) return false;
  }
  return true;
}
