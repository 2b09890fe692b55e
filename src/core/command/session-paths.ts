// Directories as those inside a session see them. Without another root or a /tmp of its own that is how the daemon
// sees them, too.

import { hostPath, type InsideView } from "../isolation/inside-paths.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { identityOf, isDirectory, requireDirectory, requireOpenDirectory } from "../process/directories.ts";

export interface SessionPaths {
  isDirectory(path: Uint8Array): boolean;
  /** What tells a directory from another, and from a later one of the same name. */
  identityOf(path: Uint8Array): string | undefined;
  /** A directory as a client gave it. */
  require(given: string, base: string | undefined): string;
}

const ownPlaces: SessionPaths = { isDirectory, identityOf, require: requireOpenDirectory };

export function sessionPathsOf(sessionIsolation: SessionIsolation | undefined): SessionPaths {
  const view = sessionIsolation?.view;
  return view ? placesIn(view) : ownPlaces;
}

function placesIn(view: InsideView): SessionPaths {
  // A name that is no text is not looked up: such a directory counts as gone, and the session can go elsewhere.
  const onHost = (path: Uint8Array) => Buffer.from(hostPath(view, Buffer.from(path).toString()));
  return {
    isDirectory: (path) => isDirectory(onHost(path)),
    identityOf: (path) => identityOf(onHost(path)),
    require: (given, base) => requireDirectory(given, base, (path) => isDirectory(onHost(path))),
  };
}
