// Colour, for people at a terminal only.

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

export type Painter = Record<keyof typeof codes, (text: string) => string>;

/** https://no-color.org: any value that is not empty means no. */
export const isColoured = (): boolean =>
  process.stdout.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";

export function painter(isOn: boolean = isColoured()): Painter {
  const paint = ([on, off]: readonly [number, number]) =>
    isOn ? (text: string) => `\x1b[${on}m${text}\x1b[${off}m` : (text: string) => text;
  const entries = Object.entries(codes).map(([name, code]) => [name, paint(code)]);
  return Object.fromEntries(entries) as Painter;
}
