// Words that do not depend on variables, files or options of the shell.
import type { ByteString } from "../../core/process/byte-string.ts";

const plainPattern = /[\w./,:@%+=^-]+/y;
const singleQuotedPattern = /'([^']*)'/y;
const doubleQuotedPattern = /"([^"$`\\]*)"/y;

/** The word without its quotes; undefined where the shell would expand it. */
export function literal(word: ByteString): ByteString | undefined {
  let text = "";
  for (let at = 0; at < word.length; ) {
    const take = (pattern: RegExp): RegExpExecArray | null => {
      pattern.lastIndex = at;
      const found = pattern.exec(word);
      at += found?.[0].length ?? 0;
      return found;
    };
    const piece = take(plainPattern)?.[0] ?? take(singleQuotedPattern)?.[1] ?? take(doubleQuotedPattern)?.[1];
    if (piece === undefined) return undefined;
    text += piece;
  }
  return text;
}
