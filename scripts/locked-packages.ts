// Reads bun.lock: name, version and checksum of every installed package.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface LockedPackage {
  name: string;
  version: string;
  /** Empty for the default registry. */
  source: string;
  integrity: string;
}

export function lockedPackages(): LockedPackage[] {
  const { packages } = readLock();
  return Object.values(packages).map(([id, source, , integrity]) => {
    const at = id.lastIndexOf("@");
    return { name: id.slice(0, at), version: id.slice(at + 1), source, integrity: integrity ?? "" };
  });
}

interface Lock {
  packages: Record<string, [id: string, source: string, about: unknown, integrity?: string]>;
  trustedDependencies?: string[];
}

/** bun.lock is JSON with trailing commas. */
export function readLock(): Lock {
  const text = readFileSync(join(import.meta.dir, "../bun.lock"), "utf8");
  return JSON.parse(text.replaceAll(/,(\s*[}\]])/g, "$1")) as Lock;
}
