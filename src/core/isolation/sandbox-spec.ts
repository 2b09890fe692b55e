// What a sandbox is made of, whoever makes it.
import { dirname } from "node:path";

export interface SandboxSpec {
  /** What is / inside. */
  root: string;
  network: boolean;
  /** The directory that is /tmp inside; undefined where /tmp is as read-only as the rest. */
  privateTmp: string | undefined;
  writable: string[];
  hidden: string[];
  /** The files of one shell, writable and at the same place inside. Those of other shells are not to be seen. */
  ownDir: string | undefined;
  /** What leads to this daemon, to others and to services: whoever reaches them could do everything outside. */
  secrets: string[];
}

/**
 * Directories between a writable directory and a secret in it. A command that renames one of them would show the secret
 * to the next sandbox, which looks for it under its old path. So the sandbox must not let them be renamed.
 */
export function pinnedDirs({ writable, hidden, secrets }: SandboxSpec): string[] {
  const isWithin = (path: string, dir: string) =>
    path === dir || path.startsWith(dir === "/" ? "/" : `${dir}/`);
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
