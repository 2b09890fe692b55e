// Colours of terminal output, and whether to use them.

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  inverse: [7, 27],
} as const;

export type Tone = keyof typeof codes;
export type Paint = (tone: Tone | undefined, text: string) => string;

const plain: Paint = (_, text) => text;
const coloured: Paint = (tone, text) =>
  tone === undefined || text === "" ? text : `\x1b[${codes[tone][0]}m${text}\x1b[${codes[tone][1]}m`;

/** NO_COLOR takes precedence (no-color.org), then FORCE_COLOR; otherwise every terminal that is not dumb has colours. */
export function hasColour(isTerminal: boolean, env: Record<string, string | undefined>): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "") return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return isTerminal && TERM !== "dumb";
}

export const paintFor = (isColoured: boolean): Paint => (isColoured ? coloured : plain);
