// The words of `trl send` in the order in which they were given: text and keys may alternate.
import type { ArgsDef } from "citty";
import { CliError, usageExitCode } from "./errors.ts";
import { aliasesOf } from "./ui/help.ts";

/** Text is joined by spaces, as echo does; a key stands for itself. */
export type Piece = { text: string } | { key: string } | { stdin: true };

export interface Words {
  name: string | undefined;
  pieces: Piece[];
}

export function wordsFrom(rawArgs: string[], args: ArgsDef): Words {
  const pieces: Piece[] = [];
  let name: string | undefined;
  const take = (word: string) => {
    const last = pieces.at(-1);
    if (name === undefined) name = word;
    else if (last && "text" in last) last.text += ` ${word}`;
    else pieces.push({ text: word });
  };
  const words = [...rawArgs];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "--") {
      for (const rest of words) take(rest);
      break;
    }
    const flag = /^--?([a-z][\w-]*)(?:=(.*))?$/s.exec(word);
    if (!flag) {
      if (word === "-" && name !== undefined) pieces.push({ stdin: true });
      else take(word);
      continue;
    }
    const [, given = "", inline] = flag;
    const takesValue = isString(given, args);
    const value = inline ?? (takesValue ? words.shift() : undefined);
    if (given !== "key" && given !== "k") continue;
    if (value === undefined)
      throw new CliError("--key needs the name of a key", usageExitCode, "for example: --key Enter");
    pieces.push({ key: value });
  }
  return { name, pieces };
}

const isString = (flag: string, args: ArgsDef): boolean =>
  Object.entries(args).some(
    ([name, arg]) => (name === flag || aliasesOf(arg).includes(flag)) && arg.type === "string",
  );
