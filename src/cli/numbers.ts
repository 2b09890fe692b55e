// Parses numbers given as flags.
import { CliError, usageExitCode } from "./errors.ts";

export function secondsFrom(flag: string, text: string): number {
  const seconds = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new CliError(`${flag} needs a number of seconds, not "${text}"`, usageExitCode);
}

export function countFrom(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CliError(`${flag} needs a whole number, not "${text}"`, usageExitCode);
}
