// The program that this process runs: the arguments that start it again, and the file that is now at its path.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import * as linux from "./linux/own-program.ts";

const isLinux = process.platform === "linux";
const startedAs = process.argv0;
const startedIn = process.cwd();

/** A path that opens the running program; on Linux also after its file was replaced or removed. */
export const ownExecutable = isLinux ? linux.ownExecutable : process.execPath;

/** The whole command line that starts this program again. */
export const ownArgv = (): string[] => {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return [
    process.execPath.replace(/ \(deleted\)$/, ""),
    ...(isCompiled ? [] : [Bun.main]),
    ...ownArguments(),
  ];
};

export const ownArguments = (): string[] => process.argv.slice(2);

/** Whether the path that this program was started from still holds it. "unchanged" where that cannot be known. */
export function installedProgram(): "unchanged" | "missing" | { path: string } {
  const path = startedAs.includes("/") ? resolve(startedIn, startedAs) : Bun.which(startedAs);
  const installed = path ? statSync(path, { throwIfNoEntry: false }) : undefined;
  const own = isLinux ? statSync(ownExecutable, { throwIfNoEntry: false }) : undefined;
  if (!own) return "unchanged";
  if (!path || !installed) return "missing";
  return installed.ino === own.ino && installed.dev === own.dev ? "unchanged" : { path };
}

/** Changes to / if the working directory is deleted: a program does not start there. */
export function leaveDeletedDirectory(): void {
  if (isLinux && linux.isWorkingDirectoryDeleted()) process.chdir("/");
}

/** Whether this process runs on musl. That musl is installed says nothing. */
export const runsOnMusl = (): boolean => isLinux && linux.runsOnMusl();
