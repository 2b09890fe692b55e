// All runtimes by name, and the routing table of their sessions and commands.
import { TrlError } from "../protocol/errors.ts";
import type { Result } from "../protocol/methods.ts";
import { hostRuntime, type RuntimeInfo, type RuntimeSpec, type Unavailable } from "../protocol/runtime.ts";
import { specFrom } from "../protocol/runtime-spec.ts";
import type { RuntimesState } from "../upgrade/schema/document.ts";
import { nearest } from "../util/nearest.ts";
import { type ConnectorContext, connectorOf } from "./connectors/connector.ts";
import { RoutingTable } from "./routing-table.ts";
import { Runtime } from "./runtime.ts";

type Listing = "session.list" | "pty.list" | "exec.list";

/** Without the sessions of its own runtimes: two daemons that are runtimes of each other would ask without end. */
const ownOnly = { runtime: hostRuntime };

/** Replies of all runtimes, and the runtimes that did not reply. */
export interface RuntimeLists<M extends Listing> {
  answers: { runtime: Runtime; data: Result<M> }[];
  unavailable: Unavailable[];
}

export class Runtimes {
  readonly routes = new RoutingTable();
  readonly #byName = new Map<string, Runtime>();

  constructor(readonly context: ConnectorContext) {}

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  get all(): Runtime[] {
    return [...this.#byName.values()];
  }

  add(name: string, spec: RuntimeSpec): Runtime {
    if (name === hostRuntime || this.#byName.has(name))
      throw new TrlError("INVALID_PARAMS", `name: there is a runtime "${name}" already`);
    const runtime: Runtime = new Runtime(name, spec, connectorOf(spec, this.context), {
      gone: () => this.routes.setLive(runtime, new Set()),
      reset: () => this.routes.forget(runtime),
    });
    this.#byName.set(name, runtime);
    return runtime;
  }

  get(name: string): Runtime {
    const runtime = this.#byName.get(name);
    if (runtime) return runtime;
    const known = [hostRuntime, ...this.#byName.keys()];
    const meant = nearest(name, known);
    const hint = meant ? `is "${meant}" meant?` : `known are ${known.join(", ")}`;
    throw new TrlError("RUNTIME_NOT_FOUND", `runtime: there is no "${name.slice(0, 64)}"; ${hint}`);
  }

  async remove(name: string, force: boolean): Promise<void> {
    const runtime = this.get(name);
    const live = force ? [] : await this.#liveIn(runtime);
    if (live.length > 0) {
      const what = live.length === 1 ? `the session ${live[0]}` : `${live.length} sessions`;
      throw new TrlError(
        "SESSION_BUSY",
        `the runtime "${name}" has ${what}; "force" removes it all the same`,
      );
    }
    this.#byName.delete(name);
    this.routes.forget(runtime);
    await runtime.dispose(new TrlError("RUNTIME_NOT_FOUND", `the runtime "${name}" was removed`));
  }

  /** For an upgrade: the new executable opens new links, and knows the routes. */
  serialize(): RuntimesState {
    return {
      runtimes: this.all.map(({ name, spec }) => ({ name, spec: { ...spec } })),
      routes: this.routes.serialize(),
    };
  }

  restore({ runtimes, routes }: RuntimesState): void {
    for (const { name, spec } of runtimes) this.add(name, specFrom(spec));
    for (const { sessionId, runtime, isLive } of routes)
      this.routes.addSession(sessionId, this.get(runtime), isLive);
  }

  /** Runtimes with sessions that end when this process ends, since their daemon or container belongs to it. */
  get boundToProcess(): Runtime[] {
    const isBound = ({ isSingleLink, spec }: Runtime) =>
      isSingleLink || ("image" in spec && spec.image !== undefined);
    return this.all.filter((runtime) => isBound(runtime) && this.routes.liveIn(runtime).length > 0);
  }

  async close(): Promise<void> {
    const error = new TrlError("RUNTIME_UNAVAILABLE", "the daemon is shutting down");
    await Promise.allSettled(this.all.map((runtime) => runtime.dispose(error)));
  }

  infoOf(runtime: Runtime, runningCommands: number | null = null): RuntimeInfo {
    const { name, spec, labels, state, since, failure, version, connector } = runtime;
    return {
      name,
      kind: spec.kind,
      target: connector.target,
      labels: [...labels],
      state,
      since: since.toISOString(),
      reason: failure?.reason ?? null,
      version: version ?? null,
      running_commands: runningCommands,
      sessions: this.routes.liveIn(runtime).length,
    };
  }

  /** Requests a list from all runtimes that are running, and updates the routing table from the replies. */
  async list<M extends Listing>(method: M, only = this.all): Promise<RuntimeLists<M>> {
    const lists: RuntimeLists<M> = { answers: [], unavailable: [] };
    const replies = only.map(async (runtime) => {
      if (!runtime.isListable) {
        if (runtime.failure) lists.unavailable.push(runtime.unavailability());
        return;
      }
      const data = (await runtime.askBriefly(method, ownOnly, { onlyIfRunning: true })) as
        | Result<M>
        | undefined;
      if (data === undefined) {
        if (!runtime.isNotStarted) lists.unavailable.push(runtime.unavailability());
      } else {
        lists.answers.push({ runtime, data });
        this.#updateRoutes(method, runtime, data);
      }
    });
    await Promise.all(replies);
    lists.answers.sort((a, b) => this.all.indexOf(a.runtime) - this.all.indexOf(b.runtime));
    return lists;
  }

  #updateRoutes(method: Listing, runtime: Runtime, data: unknown): void {
    if (method === "exec.list") {
      for (const { stream_id } of (data as Result<"exec.list">).streams)
        if (!this.routes.ofStream(stream_id)) this.routes.addStream(stream_id, runtime);
      return;
    }
    const { sessions } = data as Result<"session.list" | "pty.list">;
    const live = new Set<string>();
    for (const { session_id, state } of sessions) {
      const isLive = state !== "exited" && state !== "terminated";
      if (isLive) live.add(session_id);
      const holder = this.routes.ofSession(session_id);
      if (!holder || holder === runtime) this.routes.addSession(session_id, runtime, isLive);
    }
    if (method === "session.list") this.routes.setLive(runtime, live);
  }

  /** By the remote daemon's own list if it is connected, else by the routing table. */
  async #liveIn(runtime: Runtime): Promise<string[]> {
    if (runtime.state === "connected") {
      const data = await runtime.askBriefly("session.list", ownOnly, { onlyIfRunning: true });
      if (data) this.#updateRoutes("session.list", runtime, data);
    }
    return this.routes.liveIn(runtime);
  }
}
