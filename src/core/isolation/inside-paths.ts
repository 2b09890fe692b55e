// Paths as those inside see them, and as the daemon does. With another root, or a /tmp of its own, they differ; and a
// link is followed inside, wherever it would lead from here.
import { lstatSync, readlinkSync } from "node:fs";
import { join, resolve } from "node:path";

export interface InsideView {
  /** What is / inside. */
  root: string;
  /** Directories that lie elsewhere, the deeper ones last: inside, and for the daemon. */
  mounts: { inside: string; host: string }[];
}

const linksMax = 40;

/** Where the daemon finds what is at `path` inside; a part that does not exist is taken as it is. */
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
      at = next; // `join` has resolved a ".."; above / there is nothing
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
