/** Pieces in lines that are no longer than this, where a piece is not; none is broken. */
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

/** A text beside what stands at its left, in as many lines as it needs. */
export const hanging = (text: string, indent: number, columns: number): string =>
  wrap(text.split(" "), Math.max(20, columns - indent), " ").join(`\n${" ".repeat(indent)}`);
