// Functions of a bash, as it lists them, as a script that defines them again at the lines where they were defined: a
// function's line numbers (LINENO, messages) count from there. The list is bash's own layout, so that comments and
// blank lines inside of a function are not counted.
import { type ByteString, quote } from "../../../process/byte-string.ts";

/** Blank lines up to there are cheap. A function that begins further down counts from line 1. */
const lastLine = 20_000;

/** The lines of an `eval` count from that of the `eval` itself: it is to be on the first one of its file. */
export const defineHelper: ByteString = '__trl_define() { builtin eval "$1"; }\n';

/** Each text is read by itself, which costs more than its length. What has no room in them counts from elsewhere. */
const textsMax = 20;

interface Piece {
  line: number;
  text: ByteString;
}

/**
 * `places` are "name line file", one a line, as `declare -F NAME` prints them. A report has none where the command could
 * define no function: they are then as `before` notes them, which is the last script that was made here.
 */
export function defineAtLines(functions: ByteString, places: ByteString, before: ByteString): ByteString {
  const lines = places === "" ? notedIn(before) : linesIn(places);
  const texts: { text: ByteString; height: number }[] = [];
  for (const { line, text } of piecesOf(functions, lines).toSorted((a, b) => a.line - b.line)) {
    let fitting = texts.find(({ height }) => height < line);
    if (!fitting && texts.length === textsMax) fitting = texts[0]!;
    if (!fitting) {
      fitting = { text: "", height: 0 };
      texts.push(fitting);
    }
    const blanks = Math.max(line - 1 - fitting.height, 0);
    fitting.text += "\n".repeat(blanks) + text;
    fitting.height += blanks + text.split("\n").length - 1;
  }
  const definitions = texts.map(({ text }) => `__trl_define ${quote(text)}\n`);
  const note = [...lines].map(([name, line]) => ` ${name} ${line}`).join("");
  return `${definitions.join("")}builtin unset -f __trl_define\n#lines${note}\n`;
}

type Lines = ReadonlyMap<string, number>;

function linesIn(places: ByteString): Lines {
  const found = [...places.matchAll(/^(\S+) (\d+) /gm)];
  return new Map(found.map(([, name, line]) => [name!, Number(line)]));
}

function notedIn(script: ByteString): Lines {
  const at = script.lastIndexOf("\n#lines ");
  const note = at === -1 ? "" : script.slice(at, script.indexOf("\n", at + 1)).slice("\n#lines".length);
  return new Map([...note.matchAll(/ (\S+) (\d+)/g)].map(([, name, line]) => [name!, Number(line)]));
}

/**
 * A function begins at its header, and only where no other line looks like it: a here-document may hold anything. One
 * whose beginning is not certain stays behind the one before it.
 */
function piecesOf(functions: ByteString, lines: Lines): Piece[] {
  const starts: { at: number; end: number; line: number }[] = [];
  const headers = Map.groupBy(functions.matchAll(/^(?:function )?(\S+) \(\) \n/gm), ([, name]) => name!);
  for (const [name, line] of lines) {
    const [header, ...others] = headers.get(name) ?? [];
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
