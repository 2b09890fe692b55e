// The description of a sandbox that both bubblewrap and sandbox-exec are given.
import { dirname } from "node:path";

export interface SandboxSpec {
  /** The host directory that is / inside. */
  root: string;
  network: boolean;
  /** The host directory that is /tmp inside. Undefined if /tmp is read-only or in `writable`. */
  privateTmp: string | undefined;
  writable: string[];
  hidden: string[];
  /** The directory of one shell, writable at the same path inside. The directories of other shells are hidden. */
  ownDir: string | undefined;
  /** Paths of this daemon, other daemons and services: a program that reaches one of them can escape the sandbox. */
  secrets: string[];
}

/**
 * Directories between a writable directory and a secret in it. The sandbox must prevent their renaming: otherwise a
 * command could rename one, and the next sandbox would hide the old path and show the secret.
 */
export function pinnedDirs({ writable, hidden, secrets }: SandboxSpec): string[] {
  const pinned = secrets.flatMap((secret) => {
    const holder = writable.find((dir) => isWithin(secret, dir));
    const between: string[] = [];
    if (holder === undefined || holder === secret) return between;
    for (let dir = dirname(secret); dir !== holder; dir = dirname(dir)) between.push(dir);
    return between;
  });
  const isHidden = (path: string) => [...hidden, ...secrets].some((covered) => isWithin(path, covered));
  return [...new Set(pinned)].filter((path) => !isHidden(path));
}

export const isWithin = (path: string, dir: string): boolean =>
  path === dir || path.startsWith(dir === "/" ? "/" : `${dir}/`);
