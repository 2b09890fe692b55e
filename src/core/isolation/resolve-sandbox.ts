// Resolves the `sandbox` parameter to real paths. Refuses hidden paths that a program inside could move, because the
// next sandbox would then hide the wrong path.
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { TrlError } from "../../protocol/errors.ts";
import type { Sandbox } from "../../protocol/isolation.ts";
import type { PrivateTmpDirs } from "./private-tmp.ts";
import { isWithin, type SandboxSpec } from "./sandbox-spec.ts";

const refuse = (field: string, problem: string) =>
  new TrlError("INVALID_PARAMS", `isolation.${field}: ${problem}`);

export function requireRoot(root: string): string {
  const path = realDirectory(root);
  if (path === undefined) throw refuse("root", `no such directory: ${root}`);
  return path;
}

export interface SandboxSurroundings {
  /** The real path of the root directory inside. */
  root: string;
  /** Files of this daemon. */
  secretPaths: string[];
  tmpDirs: PrivateTmpDirs;
}

export function resolveSandbox(
  asked: Sandbox,
  { root, secretPaths, tmpDirs }: SandboxSurroundings,
): Omit<SandboxSpec, "ownDir"> {
  const writable = outermost((asked.writable ?? []).map((path) => existing("sandbox.writable", root, path)));
  const hidden = (asked.hidden ?? []).map((path) => existing("sandbox.hidden", root, path));
  const secrets = secretPaths.flatMap((path) => insidePath(root, realPath(path) ?? path) ?? []);
  const wantsTmp = asked.private_tmp ?? !writable.some((path) => isWithin("/tmp", path));
  if (wantsTmp && writable.some((path) => isWithin("/tmp", path)))
    throw refuse("sandbox.private_tmp", "/tmp cannot be both the session's own and writable for all");
  refuseMovable(writable, hidden, secrets);
  return {
    root,
    network: asked.network ?? false,
    privateTmp: wantsTmp ? tmpDirs.make() : undefined,
    writable,
    hidden,
    secrets,
  };
}

/**
 * A program can move what is in a writable directory, also the parent of a hidden path. Only a hidden path directly in
 * a writable directory is safe: it is a mount point inside, which the kernel does not rename.
 */
function refuseMovable(writable: string[], hidden: string[], secrets: string[]): void {
  const holderOf = (path: string) => writable.find((directory) => isWithin(path, directory));
  const secret = secrets.find(holderOf);
  if (secret !== undefined)
    throw refuse(
      "sandbox.writable",
      `${holderOf(secret)} holds the daemon's own files (${secret}); choose another directory, or another --socket-dir`,
    );
  const loose = hidden.find((path) => holderOf(path) !== undefined && holderOf(path) !== dirname(path));
  if (loose !== undefined)
    throw refuse(
      "sandbox.hidden",
      `${loose} lies in a writable directory (${holderOf(loose)}), where it can be moved`,
    );
}

/**
 * Translates host paths to the paths inside that must be hidden. Drops missing paths, paths that `writable` lists, and
 * paths within another hidden path, unless a writable directory is between the two.
 */
export function hiddenInside(
  paths: string[],
  { root, writable }: Pick<SandboxSpec, "root" | "writable">,
): string[] {
  const real = paths.filter((path) => existsSync(path)).flatMap((path) => realPath(path) ?? []); // most are missing
  const inside = [...new Set(real)].flatMap((path) => insidePath(root, path) ?? []);
  const hidden = inside.filter((path) => !writable.includes(path));
  const isShown = (path: string) => writable.some((shown) => isWithin(path, shown));
  const isHidden = (path: string) => hidden.some((other) => other !== path && isWithin(path, other));
  return hidden.filter((path) => isShown(path) || !isHidden(path));
}

/** The real path inside: bwrap would follow a symbolic link on the host. */
function existing(field: string, root: string, path: string): string {
  const real = realPath(join(root, path));
  if (real === undefined) throw refuse(field, `no such file or directory: ${path}`);
  const inside = insidePath(root, real);
  if (inside === undefined) throw refuse(field, `${path} leads out of the root`);
  if (/^\/(?:dev$|proc(?:\/|$))/.test(inside)) throw refuse(field, `${inside} is always the sandbox's own`);
  return inside;
}

/** Undefined if the path is outside of the root. */
function insidePath(root: string, path: string): string | undefined {
  if (root === "/") return path;
  return isWithin(path, root) ? path.slice(root.length) || "/" : undefined;
}

/** Drops paths within other paths of the list. */
const outermost = (paths: string[]) =>
  [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && isWithin(path, other)));

function realDirectory(path: string): string | undefined {
  const real = realPath(path);
  return real !== undefined && statSync(real).isDirectory() ? real : undefined;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
