// The key that detaches from a terminal.
import { CliError, usageExitCode } from "../../errors.ts";

export const defaultDetachKey = "ctrl-\\";

export const detachKeyArg = {
  type: "string",
  valueHint: "KEY",
  description: `Key that detaches: ctrl- and a to z or one of \\ ] ^ _ (${defaultDetachKey})`,
} as const;

/** Index of the key in the typed bytes, or -1. */
export type DetachKey = (typed: Uint8Array) => number;

export function detachKeyFrom(text = defaultDetachKey): DetachKey {
  const character = /^ctrl-([a-z\\\]^_])$/i.exec(text)?.[1]?.toLowerCase();
  if (character === undefined) {
    const hint = "it may be ctrl-a to ctrl-z, ctrl-\\, ctrl-], ctrl-^ or ctrl-_";
    throw new CliError(`--detach-key does not know "${text}"`, usageExitCode, hint);
  }
  const code = character.charCodeAt(0);
  const control = `\\x${(code & 0x1f).toString(16).padStart(2, "0")}`;
  // Programs may enable other encodings: kitty's keyboard protocol (press events, any lock state) and xterm's.
  const kitty = `\\x1b\\[${code}(?::\\d*)*;(?:5|69|133|197)(?::1)?(?:;[\\d:]*)?u`;
  const xterm = `\\x1b\\[27;5;${code}~`;
  const pattern = new RegExp(`${control}|${kitty}|${xterm}`);
  return (typed) => Buffer.from(typed).toString("latin1").search(pattern);
}
