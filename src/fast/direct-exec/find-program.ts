// Where a shell would find a program by its name.
import { accessSync, constants, statSync } from "node:fs";

/** Undefined where it is not there, or where only a shell can say which one it would be. */
export function findProgram(name: string, searchPath: string | undefined): string | undefined {
  if (name.includes("/")) return name; // whether it is there is found out by starting it
  for (const directory of searchPath?.split(":") ?? []) {
    if (!directory.startsWith("/")) return undefined;
    const path = directory.endsWith("/") ? directory + name : `${directory}/${name}`;
    if (isProgram(path)) return path;
  }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
