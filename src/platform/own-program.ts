// This program as a file: what runs now, and what is now where it was.
import { readlinkSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ownFile } from "./linux/own-program.ts";

const startedAs = process.argv0;
const startedIn = process.cwd();

/** The words that start it again, by this file. */
export const ownArgv = (): string[] => {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return [process.execPath.replace(/ \(deleted\)$/, ""), ...(isCompiled ? [] : [Bun.main]), ...ownWords()];
};

export const ownWords = (): string[] => process.argv.slice(2);

/** What is now where this program was found when it was started. */
export function programInPlace(): "ours" | "nothing" | { path: string } {
  const path = startedAs.includes("/") ? resolve(startedIn, startedAs) : Bun.which(startedAs);
  const there = path ? statSync(path, { throwIfNoEntry: false }) : undefined;
  const own = statSync(ownFile, { throwIfNoEntry: false });
  if (!own) return "ours"; // where nobody can tell
  if (!path || !there) return "nothing";
  return there.ino === own.ino && there.dev === own.dev ? "ours" : { path };
}

/** A program does not start in a directory that is gone. */
export function leaveGoneDirectory(): void {
  try {
    if (readlinkSync("/proc/self/cwd").endsWith(" (deleted)")) process.chdir("/");
  } catch {
    // no such thing here
  }
}
