// The little of the shell's language that can be understood for certain: simple commands of plain words, joined by
// lists and pipes. Text that holds anything else is not taken apart at all.
import type { ByteString } from "../../../process/byte-string.ts";

export interface SimpleCommand {
  /** As they are written, quotes and all. */
  words: readonly ByteString[];
  hasRedirection: boolean;
  /** What stands behind it; empty at the end of the text. */
  separator: ByteString;
}

/** Within double quotes, without a substitution. */
const quoted = String.raw`[^"$\`\\]*(?:(?:\$\w+(?!\w)|\$\{\w+\})[^"$\`\\]*)*`;
/**
 * Text between `$(` and its `)`, where it is certain which one that is: no comment, no here-document, no nesting, no `case`
 * and no index of an array, in which a parenthesis is something else.
 */
const inSubstitution = String.raw`(?!\()(?:(?!\bcase\b)[^()'"\`\\$#<[]|(?<!\w)\[|\[[^\]()'"\`\\$#<]*\]|<(?!<)|'[^']*'|"${quoted}"|\$(?:[A-Za-z_]\w*(?!\w)|\{\w+\}|[?$!@*\d]))*`;
const substitution = String.raw`\$\(${inSubstitution}\)`;

/**
 * A word without anything that assigns, defines, or runs something in the shell itself: expansions are of plain names, and
 * of commands in a subshell, which cannot change the shell. A name ends where it ends (`(?!\w)`): with any other way to
 * read it, a quote that is not closed would be looked for in all of them.
 */
const wordPattern = new RegExp(
  String.raw`(?:[\w./,:@%+=^~*?[\]-]+|'[^']*'|"${quoted}(?:${substitution}${quoted})*"|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|${substitution})+`,
  "y",
);
const redirectionPattern = /\d*(?:>>|>|<)&?(?![<>&(|])/y;
const separatorPattern = /&&|\|\||\||;|\n/y;
const blankPattern = /[ \t]+/y;

/** The daemon does nothing else while it reads one. A longer text is hardly a list of plain words. */
export const analysedMaxChars = 16_384;

/** Several ask about one command in turn. */
let latest: { text: ByteString; commands: SimpleCommand[] | undefined } = { text: "", commands: [] };

/** Undefined where it is more than that. A separator that has no command before it gives one without words. */
export function simpleCommands(text: ByteString): readonly SimpleCommand[] | undefined {
  if (text !== latest.text) latest = { text, commands: parse(text) };
  return latest.commands;
}

function parse(text: ByteString): SimpleCommand[] | undefined {
  if (text.length > analysedMaxChars) return undefined;
  const commands: SimpleCommand[] = [];
  let words: ByteString[] = [];
  let hasRedirection = false;
  let expectsFile = false;
  const end = (separator: ByteString) => {
    commands.push({ words, hasRedirection, separator });
    words = [];
    hasRedirection = false;
  };
  for (let at = 0; at < text.length; ) {
    const take = (pattern: RegExp): string | undefined => {
      pattern.lastIndex = at;
      const found = pattern.exec(text)?.[0];
      at += found?.length ?? 0;
      return found;
    };
    if (take(blankPattern)) continue;
    if (words.length > 0 && take(redirectionPattern)) {
      hasRedirection = true;
      expectsFile = true;
      continue;
    }
    const separator = take(separatorPattern);
    if (separator !== undefined) {
      if (expectsFile) return undefined;
      end(separator);
      continue;
    }
    const word = take(wordPattern);
    if (word === undefined) return undefined;
    if (!expectsFile) words.push(word);
    expectsFile = false;
  }
  if (expectsFile) return undefined;
  if (words.length > 0) end("");
  return commands;
}
