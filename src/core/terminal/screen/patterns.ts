// Searches a screen for text and regular expressions. RE2 takes linear time for any expression; a backtracking engine may
// take minutes for a prompt such as `([\w.-]+\s*)+[$#] $`. Expressions that RE2 does not support (lookaround, back
// references) use the backtracking engine, in the quarantine process and with a time limit.
import { RE2JS } from "re2js";
import type { Emulator } from "./emulator.ts";
import type { Pattern, Refusal } from "./work.ts";

export type Found = "text" | "regex" | undefined;

/** A longer expression takes longer to compile than a screen takes to draw. */
const regexCharsMax = 10_000;

/** Limit of one search by the backtracking engine. The engine has a limit of its own, and reports no match then. */
const backtrackingMs = 250;

export class PatternError extends Error implements Refusal {
  constructor(
    message: string,
    readonly needsBacktracking = false,
  ) {
    super(`until.regex: ${message}`);
  }
}

export class Matcher {
  readonly #text: string | undefined;
  readonly #regex: ((shown: string) => boolean) | undefined;
  #searchedLines: number | undefined;

  /** Throws a PatternError. */
  constructor({ text, regex, mayBacktrack = false }: Pattern) {
    this.#text = text;
    this.#regex = regex === undefined ? undefined : compile(regex, mayBacktrack);
  }

  /** Throws a PatternError if it takes too long. */
  match(shown: string): Found {
    if (this.#text !== undefined && shown.includes(this.#text)) return "text";
    return this.#regex?.(shown) ? "regex" : undefined;
  }

  /** Searches the screen and the lines that have scrolled away since the last call. */
  search(emulator: Emulator): Found {
    const { linesScrolled } = emulator;
    const shown = emulator.logicalText(linesScrolled - (this.#searchedLines ?? linesScrolled));
    this.#searchedLines = linesScrolled;
    return this.match(shown);
  }
}

function compile(source: string, mayBacktrack: boolean): (shown: string) => boolean {
  if (source.length > regexCharsMax) throw new PatternError(`expected at most ${regexCharsMax} characters`);
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(source), RE2JS.MULTILINE);
    return (shown) => linear.test(shown);
  } catch {
    return backtracking(source, mayBacktrack);
  }
}

function backtracking(source: string, isAllowed: boolean): (shown: string) => boolean {
  let regex: RegExp;
  try {
    regex = new RegExp(source, "m");
  } catch (error) {
    throw new PatternError((error as Error).message);
  }
  if (!isAllowed) throw new PatternError("needs a backtracking engine", true);
  return (shown) => {
    const begun = performance.now();
    const isFound = regex.test(shown);
    if (!isFound && performance.now() - begun > backtrackingMs)
      throw new PatternError(
        "takes too long on this screen; without lookaround and back references it takes linear time",
      );
    return isFound;
  };
}
