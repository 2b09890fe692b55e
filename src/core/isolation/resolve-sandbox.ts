// What was asked of a sandbox, made exact: real directories, and nothing that a program inside could move so that it
// means something else the next time.
import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeOwnDir, removeAbandonedDirs } from "../../platform/abandoned-dirs.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { Sandbox } from "../../protocol/isolation.ts";
import type { SandboxSpec } from "./sandbox-spec.ts";

const refuse = (field: string, problem: string) =>
  new TrlError("INVALID_PARAMS", `isolation.${field}: ${problem}`);

export function requireRoot(root: string): string {
  const path = realDirectory(root);
  if (path === undefined) throw refuse("root", `no such directory: ${root}`);
  return path;
}

export function sandboxOf(asked: Sandbox, root: string, secretPaths: string[]): Omit<SandboxSpec, "ownDir"> {
  const writable = outermost((asked.writable ?? []).map((path) => existing("sandbox.writable", root, path)));
  const hidden = (asked.hidden ?? []).map((path) => existing("sandbox.hidden", root, path));
  const secrets = secretPaths.flatMap((path) => insidePath(root, realPath(path) ?? path) ?? []);
  const wantsTmp = asked.private_tmp ?? !writable.some((path) => isWithin("/tmp", path));
  if (wantsTmp && writable.some((path) => isWithin("/tmp", path)))
    throw refuse("sandbox.private_tmp", "/tmp cannot be both the session's own and writable for all");
  refuseWhatCouldBeMoved(writable, hidden, secrets);
  return {
    root,
    network: asked.network ?? false,
    privateTmp: wantsTmp ? makePrivateTmp() : undefined,
    writable,
    hidden,
    secrets,
  };
}

/**
 * Whoever may write to a directory may move what is in it, and a path that is covered would then lead elsewhere. What
 * lies directly in a writable directory is a mount point inside, and stays.
 */
function refuseWhatCouldBeMoved(writable: string[], hidden: string[], secrets: string[]): void {
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
 * Paths outside by their names inside, where they are to be seen. What was itself asked for as writable stays open, and
 * what lies in another of the paths is hidden with it, unless something writable lies between.
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

/** By its real name inside: bwrap would follow a link to somewhere else. */
function existing(field: string, root: string, path: string): string {
  const real = realPath(join(root, path));
  if (real === undefined) throw refuse(field, `no such file or directory: ${path}`);
  const inside = insidePath(root, real);
  if (inside === undefined) throw refuse(field, `${path} leads out of the root`);
  if (/^\/(?:dev$|proc(?:\/|$))/.test(inside)) throw refuse(field, `${inside} is always the sandbox's own`);
  return inside;
}

/** Undefined where it is not to be seen from there. */
function insidePath(root: string, path: string): string | undefined {
  if (root === "/") return path;
  return isWithin(path, root) ? path.slice(root.length) || "/" : undefined;
}

/** What lies in another one that is writable need not be said again. */
const outermost = (paths: string[]) =>
  [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && isWithin(path, other)));

const isWithin = (path: string, directory: string) =>
  path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);

let isSwept = false;

/** On disk, not in memory as the daemon's own files: it may get large. */
function makePrivateTmp(): string {
  if (!isSwept) removeAbandonedDirs(tmpdir());
  isSwept = true;
  // As every /tmp, open to whoever is inside; from outside the directory above it keeps everybody away.
  const path = join(makeOwnDir(tmpdir()), "tmp");
  mkdirSync(path);
  chmodSync(path, 0o1777);
  return path;
}

/** False where something in it resists. */
export function removePrivateTmp(path: string): boolean {
  try {
    rmSync(dirname(path), { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

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
