// Whether the alternate screen is shown, from the output that has passed: leaving it where it is not shown would
// move the cursor.

const switches = /\x1b(?:c|\[\?([\d;]*)([hl]))/g;
const alternateModes = ["47", "1047", "1049"];
/** A sequence may come in two pieces; none that counts is longer in practice. */
const tailChars = 32;

export class AlternateScreen {
  isShown = false;
  #tail = "";

  /** The cursor is, as far as one can tell, at the beginning of a line. */
  get isAtLineStart(): boolean {
    return !this.isShown && this.#tail.endsWith("\n");
  }

  take(output: Buffer): void {
    const text = this.#tail + output.toString("latin1");
    for (const [, modes, action] of text.matchAll(switches)) {
      if (modes === undefined) this.isShown = false;
      else if (modes.split(";").some((mode) => alternateModes.includes(mode))) this.isShown = action === "h";
    }
    this.#tail = text.slice(-tailChars);
  }
}
