// Lists over all runtimes: the entries of this daemon first, then those of the other runtimes in the order in which they
// were added. A runtime that does not answer in time is named in `unavailable`.
import type { SessionRegistry } from "../core/session/registry.ts";
import { hostRuntime } from "../protocol/runtime.ts";
import type { Runtime } from "../remote/runtime.ts";
import type { Runtimes } from "../remote/runtimes.ts";

export type Listing = "session.list" | "pty.list" | "exec.list";
type Entry = { session_id: string; stream_id?: string; state: string };

/** `runtime` and `state` are the filters of the request. */
export async function listAllRuntimes(
  method: Listing,
  { runtime: only, state }: { runtime?: string | undefined; state?: string | undefined },
  listLocal: () => unknown,
  { runtimes, registry }: { runtimes: Runtimes; registry: SessionRegistry },
): Promise<unknown> {
  const asked = only === undefined ? runtimes.all : only === hostRuntime ? [] : [runtimes.get(only)];
  const isLocalAsked = only === undefined || only === hostRuntime;
  const [local, { answers, unavailable }] = await Promise.all([
    isLocalAsked ? listLocal() : {},
    runtimes.list(method, asked),
  ]);
  const field = method === "exec.list" ? "streams" : "sessions";
  const entriesOf = (data: unknown) => (data as Record<string, Entry[]>)[field] ?? [];
  const isLocal = ({ stream_id, session_id }: Entry) =>
    stream_id === undefined ? registry.has(session_id) : registry.commands.has(stream_id);
  const entries = [
    ...entriesOf(local),
    ...answers.flatMap(({ runtime, data }) =>
      entriesOf(data)
        .filter((entry) => state === undefined || entry.state === state)
        .filter((entry) => !isLocal(entry) && isRoutedTo(runtime, entry, runtimes))
        .map((entry) => ({ ...entry, runtime: runtime.name })),
    ),
  ];
  return { [field]: entries, ...(unavailable.length > 0 ? { unavailable } : {}) };
}

/** A daemon that was added under two names, or this daemon itself as a runtime, is listed once. */
function isRoutedTo(runtime: Runtime, { stream_id, session_id }: Entry, { routes }: Runtimes): boolean {
  const known = stream_id === undefined ? routes.ofSession(session_id) : routes.ofStream(stream_id);
  return known === undefined || known === runtime;
}
