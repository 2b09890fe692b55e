// Translates paths inside an isolation to host paths. They differ with another root or a private /tmp. Symbolic links
// are resolved as a program inside would resolve them.
import { lstatSync, readlinkSync } from "node:fs";
import { join, resolve } from "node:path";

export interface InsideView {
  /** The host directory that is / inside. */
  root: string;
  /** Directories with another host path. Deeper ones come last. */
  mounts: { inside: string; host: string }[];
}

const linksMax = 40;

/** The host path of `path` inside. Missing components are kept as they are. */
export function hostPath(view: InsideView, path: string): string {
  let rest = partsOf(path);
  let at = "/";
  for (let links = 0; rest.length > 0; ) {
    const [name, ...after] = rest;
    const next = join(at, name!);
    const target = name === ".." ? undefined : linkTarget(toHost(view, next));
    if (target !== undefined && ++links <= linksMax) {
      if (target.startsWith("/")) at = "/";
      rest = [...partsOf(target), ...after];
    } else {
      at = next; // `join` has resolved "..", and never leaves /
      rest = after;
    }
  }
  return toHost(view, at);
}

const partsOf = (path: string) => path.split("/").filter((part) => part !== "" && part !== ".");

function toHost({ root, mounts }: InsideView, path: string): string {
  const isIn = (inside: string) => path === inside || path.startsWith(`${inside}/`);
  const mount = mounts.findLast(({ inside }) => isIn(inside));
  const [base, rest] = mount ? [mount.host, path.slice(mount.inside.length)] : [root, path];
  return resolve(base, `.${rest}`);
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
