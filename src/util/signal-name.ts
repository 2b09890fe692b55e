// Names of signals by their numbers.
import { constants } from "node:os";

export const signalName = (number: number): string | undefined =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0];

/** The signal that a shell's exit code of 128 + n stands for. */
export const signalOfExitCode = (exitCode: number): string | null => signalName(exitCode - 128) ?? null;
