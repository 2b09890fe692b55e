// Runs other programs within a check's timeout.
import { type Answer, queryProgram } from "../query-program.ts";
import { type Finding, note } from "./check.ts";

/** Shorter than the check's timeout, so that the program is killed before the check fails. */
const timeoutMs = 1500;

export const ask = (...words: [string, ...string[]]): Promise<Answer | undefined> =>
  queryProgram(words, { limitMs: timeoutMs });

export const late = (name: string): Finding =>
  note(`${name} did not answer within ${timeoutMs / 1000} s`, { remedy: `see what it does: ${name}` });

export const absent = (name: string, what: string): Finding =>
  note(`${name} is not installed`, { detail: what });

export const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";

/** The error message of a failed program. */
export const why = ({ err, out, code }: Answer): string =>
  firstLine(err) || firstLine(out) || `exit code ${code}`;
