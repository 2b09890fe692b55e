// Functions of a bash: those that its environment hands over, and a script that defines the functions of a report at
// their old lines, from which LINENO and messages count. The report has bash's own layout of a function, so comments and
// blank lines inside of it are not counted.
import { type ByteString, fromText, quote } from "../../../process/byte-string.ts";

/** Padding with blank lines is cheap up to here. A function that begins further down counts from line 1. */
const lastLine = 20_000;

/** Lines inside of an `eval` count from the line of the `eval`, so it must be on the first line of its file. */
export const defineHelper: ByteString = '__trl_define() { builtin eval "$1"; }\n';

/** Each text costs an `eval` of its own. Functions that do not fit into so many texts count from other lines. */
const textsMax = 20;

/** The name of the function in a variable, by bash's own rules. A name that bash reads differently is left to bash. */
export function functionIn(variable: string, value: string): string | undefined {
  if (!value.startsWith("() {")) return undefined;
  return /^BASH_FUNC_([\w.:,+@[\]^\x80-\uffff-]+)%%$/.exec(variable)?.[1];
}

/** Defines and exports a function that a variable of the environment contains. */
export function functionLines(name: string, body: ByteString): ByteString {
  const word = name === "builtin" ? "command" : "builtin";
  return `${fromText(name)} ${body}\n${word} export -f ${fromText(name)}`;
}

/**
 * The last lines of a state's script, so that no function hides a command of the other lines. bash may need extglob to
 * parse a body, whatever the session's setting is. `attributes` has a `declare` line for each exported function, and
 * the lines where functions were defined.
 */
export function restoreFunctions(
  functions: ByteString,
  attributes: ByteString,
  before: ByteString,
): ByteString {
  if (functions.trim() === "") return "";
  const { exported = [], locations = [] } = Object.groupBy(attributes.split("\n"), (line) =>
    line.startsWith("declare ") ? "exported" : "locations",
  );
  const exports = exported.map((line) => `builtin ${line}\n`).join("");
  return `shopt -s extglob\n${defineAtLines(functions, locations.join("\n").trim(), before)}${exports}\n`;
}

interface Piece {
  line: number;
  text: ByteString;
}

/**
 * `locations` are "name line file", one per line, as `declare -F NAME` prints them. The report has none if the command
 * could not define a function: then the `#lines` note of the previous script (`before`) applies.
 */
export function defineAtLines(functions: ByteString, locations: ByteString, before: ByteString): ByteString {
  const lines = locations === "" ? notedLines(before) : reportedLines(locations);
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

function reportedLines(locations: ByteString): Lines {
  const found = [...locations.matchAll(/^(\S+) (\d+) /gm)];
  return new Map(found.map(([, name, line]) => [name!, Number(line)]));
}

function notedLines(script: ByteString): Lines {
  const at = script.lastIndexOf("\n#lines ");
  const note = at === -1 ? "" : script.slice(at, script.indexOf("\n", at + 1)).slice("\n#lines".length);
  return new Map([...note.matchAll(/ (\S+) (\d+)/g)].map(([, name, line]) => [name!, Number(line)]));
}

/**
 * Splits the list at the headers of functions. A here-document may contain a line that looks like a header, so if a
 * header occurs more than once, its function stays in the piece of the function before it.
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
    // Moves the brace to the line of the header, as most functions are written.
    text: functions.slice(at, end - 1) + functions.slice(end, starts[index + 1]?.at),
  }));
  return first === "" ? pieces : [{ line: 1, text: first }, ...pieces];
}
