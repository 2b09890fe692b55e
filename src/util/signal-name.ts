import { constants } from "node:os";

/** The signal that an exit code of 128 + n stands for. */
export function signalOf(exitCode: number): string | null {
  const named = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128);
  return named?.[0] ?? null;
}
