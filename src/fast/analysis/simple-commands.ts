// Parses the part of the shell language that is certain: simple commands of plain words, joined by lists and pipes. Any
// other text is not parsed at all.
import type { ByteString } from "../../core/process/byte-string.ts";
import { rememberLast } from "../../util/lazy.ts";

export interface SimpleCommand {
  /** With their quotes. */
  words: readonly ByteString[];
  hasRedirection: boolean;
  /** What follows it; empty at the end of the text. */
  separator: ByteString;
}

/** Within double quotes, without a substitution. */
const quoted = String.raw`[^"$\`\\]*(?:(?:\$\w+(?!\w)|\$\{\w+\})[^"$\`\\]*)*`;
/**
 * Text between `$(` and its `)`, where that `)` is certain: no comment, here-document, nesting, `case` or array index, in
 * which a parenthesis means something else.
 */
const inSubstitution = String.raw`(?!\()(?:(?!\bcase\b)[^()'"\`\\$#<[]|(?<!\w)\[|\[[^\]()'"\`\\$#<]*\]|<(?!<)|'[^']*'|"${quoted}"|\$(?:[A-Za-z_]\w*(?!\w)|\{\w+\}|[?$!@*\d]))*`;
const substitution = String.raw`\$\(${inSubstitution}\)`;

/**
 * A word that assigns, defines and runs nothing in the shell itself: it expands plain names, and commands in a subshell,
 * which cannot change the shell. `(?!\w)` ends a name in one way only: otherwise an open quote makes the pattern backtrack
 * over all ways.
 */
const wordPattern = new RegExp(
  String.raw`(?:[\w./,:@%+=^~*?[\]-]+|'[^']*'|"${quoted}(?:${substitution}${quoted})*"|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|${substitution})+`,
  "y",
);
const redirectionPattern = /\d*(?:>>|>|<)&?(?![<>&(|])/y;
const separatorPattern = /&&|\|\||\||;|\n/y;
const blankPattern = /[ \t]+/y;

/** Parsing blocks the event loop, and a longer text is hardly a list of plain words. */
export const analysedMaxChars = 16_384;

/**
 * Undefined for any other text. A separator without a command before it gives a command without words. Several
 * accelerators parse the same command in turn, so the last result is kept.
 */
export const simpleCommands: (text: ByteString) => readonly SimpleCommand[] | undefined = rememberLast(parse);

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
