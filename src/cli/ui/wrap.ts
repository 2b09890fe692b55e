// Wraps text by display width.

/** Joins pieces to lines of at most `width`; a longer piece has its own line and is not broken. */
export function wrap(pieces: string[], width: number, separator: string): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    const longer = last === undefined ? piece : `${last}${separator}${piece}`;
    if (last === undefined || Bun.stringWidth(longer) > width) lines.push(piece);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Wraps with a hanging indent. */
export const hanging = (text: string, indent: number, columns: number): string =>
  wrap(text.split(" "), Math.max(20, columns - indent), " ").join(`\n${" ".repeat(indent)}`);
