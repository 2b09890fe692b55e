// A terminal as a frontend has one, to be compared cell by cell.
import { Terminal } from "@xterm/headless";

export class Display {
  readonly terminal: Terminal;

  constructor(cols: number, rows: number) {
    this.terminal = new Terminal({ cols, rows, scrollback: 2000, allowProposedApi: true, logLevel: "off" });
  }

  /** At once: the emulator's own `write` takes a timer's time. */
  write(data: string | Uint8Array): void {
    const { _core } = this.terminal as unknown as {
      _core: { _inputHandler: { parse(data: unknown): void } };
    };
    _core._inputHandler.parse(data);
  }

  get lines(): string[] {
    const { active } = this.terminal.buffer;
    return Array.from(
      { length: this.terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    );
  }

  /** Characters, widths, colours and attributes of the screen, one string a row; the cursor, the modes. */
  get picture() {
    const { active } = this.terminal.buffer;
    const rows = Array.from({ length: this.terminal.rows }, (_, row) => this.#row(active.baseY + row));
    return {
      rows,
      cursor: [active.cursorX, active.cursorY],
      type: active.type,
      modes: { ...this.terminal.modes },
    };
  }

  #row(at: number): string {
    const line = this.terminal.buffer.active.getLine(at);
    const cells: string[] = [];
    for (let x = 0; x < this.terminal.cols; x++) {
      const cell = line?.getCell(x);
      if (!cell) continue;
      const marks = [
        cell.isBold(),
        cell.isDim(),
        cell.isItalic(),
        cell.isUnderline(),
        cell.isInverse(),
        cell.isInvisible(),
        cell.isStrikethrough(),
        cell.isBlink(),
        cell.isOverline(),
      ].map((mark) => (mark ? 1 : 0));
      const colours = [cell.getFgColorMode(), cell.getFgColor(), cell.getBgColorMode(), cell.getBgColor()];
      const text = cell.getChars() || " ";
      cells.push(`${text}/${cell.getWidth()}/${colours.join(",")}/${marks.join("")}`);
    }
    return cells.join("|");
  }
}
