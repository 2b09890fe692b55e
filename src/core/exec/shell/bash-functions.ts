// Functions of a bash, as it lists them, as a script that defines them again at the lines where they were defined: a
// function's line numbers (LINENO, messages) count from there. The list is bash's own layout, so that comments and
// blank lines inside of a function are not counted.
import { type ByteString, quote } from "./byte-string.ts";

/** Blank lines up to there are cheap. A function that begins further down counts from line 1. */
const lastLine = 20_000;

/** The lines of an `eval` count from that of the `eval` itself: it is to be on the first one of its file. */
export const defineHelper: ByteString = '__trl_define() { builtin eval "$1"; }\n';

interface Piece {
  line: number;
  text: ByteString;
}

/** `places` are "name line file", one a line, as `declare -F NAME` prints them. */
export function defineAtLines(functions: ByteString, places: ByteString): ByteString {
  const texts: { text: ByteString; height: number }[] = [];
  for (const { line, text } of piecesOf(functions, places).toSorted((a, b) => a.line - b.line)) {
    const fitting = texts.find(({ height }) => height < line) ?? { text: "", height: 0 };
    if (fitting.text === "") texts.push(fitting);
    fitting.text += "\n".repeat(line - 1 - fitting.height) + text;
    fitting.height = line - 1 + text.split("\n").length - 1;
  }
  const lines = texts.map(({ text }) => `__trl_define ${quote(text)}\n`);
  return `${lines.join("")}builtin unset -f __trl_define\n`;
}

/**
 * A function begins at its header, and only where no other line looks like it: a here-document may hold anything. One
 * whose beginning is not certain stays behind the one before it.
 */
function piecesOf(functions: ByteString, places: ByteString): Piece[] {
  const starts: { at: number; end: number; line: number }[] = [];
  const headers = Map.groupBy(functions.matchAll(/^(?:function )?(\S+) \(\) \n/gm), ([, name]) => name!);
  for (const [, name, digits] of places.matchAll(/^(\S+) (\d+) /gm)) {
    const [header, ...others] = headers.get(name!) ?? [];
    const line = Number(digits);
    if (!header || others.length > 0) continue;
    starts.push({ at: header.index, end: header.index + header[0].length, line: line > lastLine ? 1 : line });
  }
  starts.sort((a, b) => a.at - b.at);
  const first = functions.slice(0, starts[0]?.at);
  const pieces = starts.map(({ at, end, line }, index) => ({
    line: Math.max(line, 1),
    // The brace goes on the header's line, as most functions are written.
    text: functions.slice(at, end - 1) + functions.slice(end, starts[index + 1]?.at),
  }));
  return first === "" ? pieces : [{ line: 1, text: first }, ...pieces];
}
