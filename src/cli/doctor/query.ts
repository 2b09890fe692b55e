// Programs of others, asked within a check's time.
import { type Answer, queryProgram } from "../query-program.ts";
import { type Finding, note } from "./check.ts";

/** The program is ended before the check is given up. */
const limitMs = 1500;

export const ask = (...words: [string, ...string[]]): Promise<Answer | undefined> =>
  queryProgram(words, { limitMs });

export const late = (name: string): Finding =>
  note(`${name} did not answer within ${limitMs / 1000} s`, { remedy: `see what it does: ${name}` });

export const absent = (name: string, what: string): Finding =>
  note(`${name} is not installed`, { detail: what });

export const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";

/** What it said when it failed. */
export const why = ({ err, out, code }: Answer): string =>
  firstLine(err) || firstLine(out) || `exit code ${code}`;
