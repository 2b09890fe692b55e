// Tracks from the output whether the alternate screen is shown: leaving it when it is not shown would move the cursor.

const switches = /\x1b(?:c|\[\?([\d;]*)([hl]))/g;
const alternateModes = ["47", "1047", "1049"];
/** Kept between chunks, because a sequence may be split; longer ones do not occur in practice. */
const tailChars = 32;

export class AlternateScreen {
  isShown = false;
  #tail = "";

  /** Best guess from the last byte of output. */
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
