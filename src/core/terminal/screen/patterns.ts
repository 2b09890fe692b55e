// Looks for text and regular expressions on a screen. RE2 takes time linear in the text whatever the expression is; a
// backtracking engine can be kept busy for minutes by a prompt such as `([\w.-]+\s*)+[$#] $`. What RE2 does not know,
// lookaround and back references, is left to that engine, where it can harm no other screen and within a limit.
import { RE2JS } from "re2js";
import type { Emulator } from "./emulator.ts";
import type { Pattern, Refusal } from "./work.ts";

export type Found = "text" | "regex" | undefined;

/** A longer expression takes longer to compile than a screen to be drawn. */
const regexCharsMax = 10_000;

/** What one search by the backtracking engine may take. When it gives up by itself, it says that there is no match. */
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
  #seenLines: number | undefined;

  /** Throws a PatternError. */
  constructor({ text, regex, mayBacktrack = false }: Pattern) {
    this.#text = text;
    this.#regex = regex === undefined ? undefined : compile(regex, mayBacktrack);
  }

  /** Throws a PatternError where it takes too long. */
  match(shown: string): Found {
    if (this.#text !== undefined && shown.includes(this.#text)) return "text";
    return this.#regex?.(shown) ? "regex" : undefined;
  }

  /** The screen, and above it the lines that have scrolled by since the last look. */
  look(emulator: Emulator): Found {
    const { linesScrolled } = emulator;
    const shown = emulator.logicalText(linesScrolled - (this.#seenLines ?? linesScrolled));
    this.#seenLines = linesScrolled;
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
