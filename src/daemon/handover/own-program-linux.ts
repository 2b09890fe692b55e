// This program as a file: what runs now, and what is now where it was.
import { statSync } from "node:fs";
import { resolve } from "node:path";

/** What runs, whatever has become of its file. */
export const ownFile = "/proc/self/exe";

const startedAs = process.argv0;
const startedIn = process.cwd();

/** The words that start it again, by this file. */
export const ownArgv = (): string[] => {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return [process.execPath.replace(/ \(deleted\)$/, ""), ...(isCompiled ? [] : [Bun.main]), ...ownWords()];
};

export const ownWords = (): string[] => process.argv.slice(2);

/** Where this program was found when it was started, if another one is there now. */
export function programInPlace(): string | undefined {
  const path = startedAs.includes("/") ? resolve(startedIn, startedAs) : Bun.which(startedAs);
  const there = path ? statSync(path, { throwIfNoEntry: false }) : undefined;
  const own = statSync(ownFile, { throwIfNoEntry: false });
  if (!path || !there || !own) return undefined;
  return there.ino === own.ino && there.dev === own.dev ? undefined : path;
}
