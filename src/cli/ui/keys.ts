// Converts names of keys to the sequences that xterm sends; TERM of trl's terminals is xterm.
import { nearest } from "../../util/nearest.ts";
import { CliError, usageExitCode } from "../errors.ts";

/** Keys that send one character. */
const plainKeys: Record<string, string> = {
  enter: "\r",
  escape: "\x1b",
  tab: "\t",
  space: " ",
  backspace: "\x7f",
};

/** `CSI x`, or `SS3 x` in application cursor key mode. */
const cursorKeys: Record<string, string> = { up: "A", down: "B", right: "C", left: "D", home: "H", end: "F" };

/** `CSI number ~` */
const editKeys: Record<string, number> = {
  insert: 2,
  delete: 3,
  pageup: 5,
  pagedown: 6,
  f5: 15,
  f6: 17,
  f7: 18,
  f8: 19,
  f9: 20,
  f10: 21,
  f11: 23,
  f12: 24,
};

/** `SS3 x` */
const functionKeys: Record<string, string> = { f1: "P", f2: "Q", f3: "R", f4: "S" };

/** Aliases, including those of tmux. */
const otherNames: Record<string, string> = {
  esc: "escape",
  return: "enter",
  cr: "enter",
  bspace: "backspace",
  del: "delete",
  dc: "delete",
  ins: "insert",
  ic: "insert",
  pgup: "pageup",
  ppage: "pageup",
  pgdn: "pagedown",
  npage: "pagedown",
};

const modifiers: Record<string, number> = { s: 1, shift: 1, m: 2, alt: 2, c: 4, ctrl: 4 };

export interface KeyModes {
  /** Application cursor key mode is set. */
  isApplication: boolean;
}

/** True for cursor keys: their sequence depends on the mode. */
export const dependsOnMode = (name: string): boolean => Object.hasOwn(cursorKeys, nameOf(name));

const nameOf = (name: string): string => otherNames[name.toLowerCase()] ?? name.toLowerCase();

/** `Enter`, `C-c`, `ctrl-c`, `M-x`, `S-Tab`, `C-Up`, `F5`, or one character. Throws for an unknown key. */
export function keySequence(name: string, modes: KeyModes): string {
  const { modifier, key } = takeModifiers(name);
  const special = nameOf(key);
  const alt = modifier & 2 ? "\x1b" : "";
  if (special === "tab" && modifier === 1) return "\x1b[Z";
  if (Object.hasOwn(plainKeys, special) && !(modifier & 4)) return alt + plainKeys[special]!;
  const sequence = functionSequence(special, modifier, modes);
  if (sequence !== undefined) return sequence;
  const character = special === "space" ? " " : key;
  if ([...character].length === 1) {
    const typed = modifier & 4 ? control(character) : character;
    if (typed !== undefined) return alt + typed;
  }
  throw unknownKey(name);
}

function functionSequence(key: string, modifier: number, { isApplication }: KeyModes): string | undefined {
  const final = cursorKeys[key] ?? functionKeys[key];
  const number = editKeys[key];
  if (final !== undefined) {
    if (modifier > 0) return `\x1b[1;${modifier + 1}${final}`;
    return `${isApplication || key in functionKeys ? "\x1bO" : "\x1b["}${final}`;
  }
  if (number === undefined) return undefined;
  return modifier > 0 ? `\x1b[${number};${modifier + 1}~` : `\x1b[${number}~`;
}

function takeModifiers(name: string): { modifier: number; key: string } {
  let modifier = 0;
  let key = /^btab$/i.test(name) ? "s-tab" : name;
  for (let found = /^(\w+)-(.+)$/s.exec(key); found; found = /^(\w+)-(.+)$/s.exec(key)) {
    const bit = modifiers[found[1]!.toLowerCase()];
    if (bit === undefined) break;
    modifier |= bit;
    key = found[2]!;
  }
  return { modifier, key };
}

/** Ctrl with a-z or one of `@[\]^_?` and space. */
function control(character: string): string | undefined {
  if (character === "?") return "\x7f";
  if (character === " ") return "\0";
  const code = character.toUpperCase().charCodeAt(0);
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : undefined;
}

function unknownKey(name: string): CliError {
  const known = [plainKeys, cursorKeys, editKeys, functionKeys].flatMap((keys) => Object.keys(keys));
  const meant = nearest(name, known);
  const some = "Enter, Escape, Tab, Up, PageDown, F5, C-c, M-x and the like";
  return new CliError(
    `there is no key ${JSON.stringify(name)}`,
    usageExitCode,
    meant ? `is it meant to be ${meant[0]!.toUpperCase()}${meant.slice(1)}?` : `keys are ${some}`,
  );
}
