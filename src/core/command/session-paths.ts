// Directories as the programs of a session see them. They differ from the daemon's view where the session has another
// root or a /tmp of its own.

import { hostPath, type InsideView } from "../isolation/inside-paths.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { identityOf, isDirectory, requireDirectory, requireOpenDirectory } from "../process/directories.ts";

export interface SessionPaths {
  isDirectory(path: Uint8Array): boolean;
  /** Differs between two directories, also between a removed one and a later one of the same name. */
  identityOf(path: Uint8Array): string | undefined;
  /** Resolves a directory of a request; throws where it is none. */
  require(given: string, base: string | undefined): string;
}

const hostPaths: SessionPaths = { isDirectory, identityOf, require: requireOpenDirectory };

export function sessionPathsOf(sessionIsolation: SessionIsolation | undefined): SessionPaths {
  const view = sessionIsolation?.view;
  return view ? pathsIn(view) : hostPaths;
}

function pathsIn(view: InsideView): SessionPaths {
  // A name that is not UTF-8 cannot be translated: such a directory counts as missing, and the session can leave it.
  const onHost = (path: Uint8Array) => Buffer.from(hostPath(view, Buffer.from(path).toString()));
  return {
    isDirectory: (path) => isDirectory(onHost(path)),
    identityOf: (path) => identityOf(onHost(path)),
    require: (given, base) => requireDirectory(given, base, (path) => isDirectory(onHost(path))),
  };
}
