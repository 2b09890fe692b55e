// Sessions as people call them: by id, by name, by the beginning of an id.
import { TrlError } from "../protocol/errors.ts";

export interface Named {
  session_id: string;
  name: string | null;
  state: string;
}

const isLive = ({ state }: Named) => state !== "exited" && state !== "terminated";

/** An id wins; of those with the name, the newest that lives, else the newest; then a beginning that only one has. */
export function findNamed<T extends Named>(all: T[], wanted: string): T {
  const named = all.filter(({ name }) => name === wanted);
  const exact = all.find(({ session_id }) => session_id === wanted) ?? named.findLast(isLive) ?? named.at(-1);
  if (exact) return exact;
  const begun = all.filter(({ session_id }) => beginsWith(session_id, wanted));
  if (begun.length === 1) return begun[0]!;
  if (begun.length === 0) throw new TrlError("SESSION_NOT_FOUND", `there is no session ${wanted}`);
  const candidates = begun.map(({ session_id }) => session_id);
  throw new TrlError("INVALID_PARAMS", `${wanted} may be ${candidates.join(" or ")}`);
}

/** Of an id that the daemon has made, its letter may be left out. */
export const beginsWith = (id: string, wanted: string): boolean =>
  wanted !== "" && (id.startsWith(wanted) || (/^[sx]-/.test(id) && id.slice(2).startsWith(wanted)));
