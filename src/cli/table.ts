// Tables for people, on standard output.

/** The first row is the header. */
export function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => Bun.stringWidth(row[column]!))));
  const line = (row: string[]) => row.map((cell, i) => pad(cell, widths[i]!)).join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

const pad = (cell: string, width: number) => cell + " ".repeat(width - Bun.stringWidth(cell));

const cellMaxChars = 40;

/** A name may hold anything, and must not write to the terminal what it likes. */
export function printable(text: string | null, maxChars = cellMaxChars): string {
  const plain = (text || "-").replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return plain.length > maxChars ? `${plain.slice(0, maxChars - 3)}...` : plain;
}
