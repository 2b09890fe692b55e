// Recognises a command that is one program with literal words, which needs no shell.
import type { CommandFeed } from "../../core/command/shell/dialect.ts";
import { type ByteString, toText } from "../../core/process/byte-string.ts";
import { literal } from "../analysis/literal-words.ts";
import { leavesSession, shadowedBuiltins } from "../analysis/programs.ts";
import { simpleCommands } from "../analysis/simple-commands.ts";
import { isHarmless } from "../analysis/state-changes.ts";

/** The program's argv; undefined where the command needs a shell. */
export function programWords(feed: CommandFeed): [string, ...string[]] | undefined {
  const [first, ...more] = simpleCommands(feed.command) ?? [];
  const [program] = first?.words ?? [];
  if (program === undefined || more.length > 0 || first!.hasRedirection) return undefined;
  if (leavesSession.test(feed.command) || /[=$]/.test(program)) return undefined;
  if (!/^[;\n]?$/.test(first!.separator) || shadowedBuiltins.has(program) || !isHarmless(feed))
    return undefined;
  const words = first!.words.map(literal);
  return words.includes(undefined)
    ? undefined
    : ((words as ByteString[]).map(toText) as [string, ...string[]]);
}
