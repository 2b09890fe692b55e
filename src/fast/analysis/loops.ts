// Parses loops over words, as `for i in a b; do echo $i; done`, around a list of simple commands.
import type { ByteString } from "../../core/process/byte-string.ts";
import { analysedMaxChars, type SimpleCommand, simpleCommands } from "./simple-commands.ts";

export interface Loop {
  variable: string;
  words: readonly ByteString[];
  body: readonly SimpleCommand[];
}

// Each pattern is found in one pass over the text. One pattern for the whole loop would backtrack over all combinations.
const loopHead = /^[ \t\n]*for[ \t]+([A-Za-z_]\w*)[ \t]+in(?=[ \t])/;
const loopDo = /(?<=[ \t\n;])do[ \t\n]/;
const loopDone = /(?<=[ \t\n;])done(?:[ \t]*;)?[ \t\n]*$/;
const lastBlanks = /(?<![ \t\n])[ \t\n]*$/;

/**
 * Undefined where the text is anything else. A quoted "do" or "done" that is mistaken for the keyword leaves an open quote
 * in the words or in the list, which then do not parse.
 */
export function loopIn(text: ByteString): Loop | undefined {
  if (text.length > analysedMaxChars) return undefined;
  const [head, variable] = loopHead.exec(text) ?? [];
  if (head === undefined) return undefined;
  const rest = text.slice(head.length);
  const doAt = rest.search(loopDo);
  const bodyAt = doAt + "do ".length;
  const doneAt = rest.search(loopDone);
  if (doAt < 0 || doneAt < bodyAt) return undefined;
  const over = endedList(rest.slice(0, doAt));
  const body = endedList(rest.slice(bodyAt, doneAt));
  if (over === undefined || body === undefined) return undefined;
  const [words, ...more] = simpleCommands(over) ?? [];
  if (!words || more.length > 0 || words.words.length === 0 || words.hasRedirection) return undefined;
  const commands = simpleCommands(body);
  return commands && isWellFormed(commands)
    ? { variable: variable!, words: words.words, body: commands }
    : undefined;
}

/** Without errors of syntax. */
export function isWellFormed(commands: readonly SimpleCommand[]): boolean {
  if (commands.length === 0) return false;
  return commands.every(
    ({ words, separator }, at) => words.length > 0 && (at < commands.length - 1 || !/[&|]/.test(separator)),
  );
}

/** The list with its last separator; undefined where it has none. */
function endedList(text: ByteString): ByteString | undefined {
  const end = text.search(lastBlanks);
  if (text[end - 1] === ";") return text.slice(0, end);
  return text.includes("\n", end) ? `${text.slice(0, end)}\n` : undefined;
}
