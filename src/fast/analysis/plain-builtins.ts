// Uses of `test`, `[` and `printf` that neither assign nor evaluate anything. Others do: `printf -v` and `%n` assign, and
// `test -v` and `-R` compute the index of an array.
import type { ByteString } from "../../core/process/byte-string.ts";
import { literal } from "./literal-words.ts";

/** Whether the words of this simple command are such a use. */
export function isPlainBuiltin([name, ...args]: readonly ByteString[]): boolean {
  if (name === "printf") return isPlainFormat(args[0]);
  if (name === "test") return isPlainTest(args);
  return name === "[" && args.at(-1) === "]" && isPlainTest(args.slice(0, -1));
}

const singlePattern = /(?:[\w./,:@%+=^-]+|'[^']*'|"[^"]*")+/y;

/**
 * A word that is neither split nor matched against files. The pattern has no `$`, which would make it backtrack over every
 * division of the word into runs.
 */
function isSingle(word: ByteString): boolean {
  singlePattern.lastIndex = 0;
  return singlePattern.exec(word)?.[0].length === word.length;
}

const unaryPattern = /^-[a-hknprstuwxzGLNOS]$/;
const binaryPattern = /^(?:==?|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** The position decides which word is the operator: the second of three, the first of two. */
function isPlainTest(args: readonly ByteString[]): boolean {
  if (!args.every(isSingle)) return false;
  if (args.length <= 1) return true;
  if (args.length === 2) return unaryPattern.test(args[0]!);
  return args.length === 3 && binaryPattern.test(args[1]!);
}

const countingConversion = /%[-+ #'*.\dhjlLqtz]*n/;

function isPlainFormat(word: ByteString | undefined): boolean {
  const format = word === undefined ? undefined : literal(word);
  if (format === undefined || format.startsWith("-")) return false;
  return !countingConversion.test(format.replaceAll("%%", ""));
}
