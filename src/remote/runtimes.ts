// All runtimes by name, and what lives where.
import { TrlError } from "../protocol/errors.ts";
import type { Result } from "../protocol/methods.ts";
import { hostRuntime, type RuntimeInfo, type RuntimeSpec, type Unavailable } from "../protocol/runtime.ts";
import { specFrom } from "../protocol/runtime-spec.ts";
import type { RuntimesState } from "../upgrade/schema/document.ts";
import { nearest } from "../util/nearest.ts";
import { type ConnectorSetup, connectorOf } from "./connectors/connector.ts";
import { Routes } from "./routing-table.ts";
import { Runtime } from "./runtime.ts";

type Listing = "session.list" | "pty.list" | "exec.list";

/** Its own, and not what it has elsewhere in turn: two daemons that know each other would ask for ever. */
const ownOnly = { runtime: hostRuntime };

/** What each runtime has said; those that did not are named. */
export interface Look<M extends Listing> {
  answers: { runtime: Runtime; data: Result<M> }[];
  unavailable: Unavailable[];
}

export class Runtimes {
  readonly routes = new Routes();
  readonly #byName = new Map<string, Runtime>();

  constructor(readonly context: ConnectorSetup) {}

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  get all(): Runtime[] {
    return [...this.#byName.values()];
  }

  add(name: string, spec: RuntimeSpec): Runtime {
    if (name === hostRuntime || this.#byName.has(name))
      throw new TrlError("INVALID_PARAMS", `name: there is a runtime "${name}" already`);
    const runtime = new Runtime(name, spec, connectorOf(spec, this.context));
    runtime.onGone = () => this.routes.keepOnly(runtime, new Set());
    runtime.onForgotten = () => this.routes.forget(runtime);
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

  /** Links are made anew by the program that comes, and what lives where is known to it. */
  pack(): RuntimesState {
    return {
      runtimes: this.all.map(({ name, spec }) => ({ name, spec: { ...spec } })),
      routes: this.routes.pack(),
    };
  }

  takeOver({ runtimes, routes }: RuntimesState): void {
    for (const { name, spec } of runtimes) this.add(name, specFrom(spec));
    for (const { sessionId, runtime, isLive } of routes)
      this.routes.addSession(sessionId, this.get(runtime), isLive);
  }

  /** What ends with the link to it, and has sessions. */
  get boundToUs(): Runtime[] {
    const ends = ({ isPrivate, spec }: Runtime) => isPrivate || ("image" in spec && spec.image !== undefined);
    return this.all.filter((runtime) => ends(runtime) && this.routes.liveIn(runtime).length > 0);
  }

  async close(): Promise<void> {
    const why = new TrlError("RUNTIME_UNAVAILABLE", "the daemon is shutting down");
    await Promise.allSettled(this.all.map((runtime) => runtime.dispose(why)));
  }

  infoOf(runtime: Runtime, runningCommands: number | null = null): RuntimeInfo {
    const { name, spec, labels, state, since, trouble, version, opener } = runtime;
    return {
      name,
      kind: spec.kind,
      target: opener.target,
      labels: [...labels],
      state,
      since: since.toISOString(),
      reason: trouble?.reason ?? null,
      version: version ?? null,
      running_commands: runningCommands,
      sessions: this.routes.liveIn(runtime).length,
    };
  }

  /** Asks those that can be asked for a list, and learns from it what lives where. */
  async look<M extends Listing>(method: M, only = this.all): Promise<Look<M>> {
    const look: Look<M> = { answers: [], unavailable: [] };
    const asked = only.map(async (runtime) => {
      if (!runtime.isWorthALook) {
        if (runtime.trouble) look.unavailable.push(runtime.unavailability());
        return;
      }
      const data = (await runtime.askBriefly(method, ownOnly, true)) as Result<M> | undefined;
      if (data === undefined) {
        if (!runtime.isVacant) look.unavailable.push(runtime.unavailability());
      } else {
        look.answers.push({ runtime, data });
        this.#learn(method, runtime, data);
      }
    });
    await Promise.all(asked);
    look.answers.sort((a, b) => this.all.indexOf(a.runtime) - this.all.indexOf(b.runtime));
    return look;
  }

  #learn(method: Listing, runtime: Runtime, data: unknown): void {
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
    if (method === "session.list") this.routes.keepOnly(runtime, live);
  }

  /** As it says itself; as it is remembered where it cannot be asked. */
  async #liveIn(runtime: Runtime): Promise<string[]> {
    if (runtime.state === "connected") {
      const data = await runtime.askBriefly("session.list", ownOnly, true);
      if (data) this.#learn("session.list", runtime, data);
    }
    return this.routes.liveIn(runtime);
  }
}
