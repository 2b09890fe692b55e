// Lists over all runtimes: ours first, then the others' in the order in which they were made known. Who does not
// answer in time is left out, and named.
import type { SessionRegistry } from "../core/session/registry.ts";
import { hostRuntime } from "../protocol/runtime.ts";
import type { Runtime } from "../remote/runtime.ts";
import type { Runtimes } from "../remote/runtimes.ts";

export type Listing = "session.list" | "pty.list" | "exec.list";
type Entry = { session_id: string; stream_id?: string; state: string };

/** `runtime`, where the client has named one; `state`, where it wants no other. */
export async function listEverywhere(
  method: Listing,
  { runtime: only, state }: { runtime?: string | undefined; state?: string | undefined },
  here: () => unknown,
  { runtimes, registry }: { runtimes: Runtimes; registry: SessionRegistry },
): Promise<unknown> {
  const asked = only === undefined ? runtimes.all : only === hostRuntime ? [] : [runtimes.get(only)];
  const isOursAsked = only === undefined || only === hostRuntime;
  const [own, { answers, unavailable }] = await Promise.all([
    isOursAsked ? here() : {},
    runtimes.list(method, asked),
  ]);
  const field = method === "exec.list" ? "streams" : "sessions";
  const entriesOf = (data: unknown) => (data as Record<string, Entry[]>)[field] ?? [];
  const isHere = ({ stream_id, session_id }: Entry) =>
    stream_id === undefined ? registry.has(session_id) : registry.commands.has(stream_id);
  const entries = [
    ...entriesOf(own),
    ...answers.flatMap(({ runtime, data }) =>
      entriesOf(data)
        .filter((entry) => state === undefined || entry.state === state)
        .filter((entry) => !isHere(entry) && isHeldBy(runtime, entry, runtimes))
        .map((entry) => ({ ...entry, runtime: runtime.name })),
    ),
  ];
  return { [field]: entries, ...(unavailable.length > 0 ? { unavailable } : {}) };
}

/** A daemon that is known by two names is listed by one of them; so are we, where we know ourselves. */
function isHeldBy(runtime: Runtime, { stream_id, session_id }: Entry, { routes }: Runtimes): boolean {
  const holder = stream_id === undefined ? routes.ofSession(session_id) : routes.ofStream(stream_id);
  return holder === undefined || holder === runtime;
}
