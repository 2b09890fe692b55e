// The routing table: which runtime has which session and command, as far as replies have shown it. The number of
// commands and of ended sessions is limited to the latest ones; requests for older ones cause a search.
import type { RuntimesState } from "../upgrade/schema/document.ts";
import { endedRoutesMax, streamRoutesMax } from "./limits.ts";
import type { Runtime } from "./runtime.ts";

interface Route {
  runtime: Runtime;
  isLive: boolean;
}

export class RoutingTable {
  readonly #sessions = new Map<string, Route>();
  /** Ended sessions, the latest last. */
  readonly #ended = new Set<string>();
  readonly #streams = new Map<string, Runtime>();

  ofSession(id: string): Runtime | undefined {
    return this.#sessions.get(id)?.runtime;
  }

  ofStream(id: string): Runtime | undefined {
    return this.#streams.get(id);
  }

  isLive(id: string): boolean {
    return this.#sessions.get(id)?.isLive === true;
  }

  addSession(id: string, runtime: Runtime, isLive = true): void {
    this.#sessions.set(id, { runtime, isLive });
    if (isLive) this.#ended.delete(id);
    else this.ended(id);
  }

  /** Without the commands, which a search finds again. */
  serialize(): RuntimesState["routes"] {
    return [...this.#sessions].map(([sessionId, { runtime, isLive }]) => ({
      sessionId,
      runtime: runtime.name,
      isLive,
    }));
  }

  /** The route stays, since the remote daemon keeps the screen of an ended terminal for a while. */
  ended(id: string): void {
    const route = this.#sessions.get(id);
    if (!route) return;
    route.isLive = false;
    this.#ended.add(id);
    if (this.#ended.size <= endedRoutesMax) return;
    const [oldest] = this.#ended;
    this.removeSession(oldest!);
  }

  removeSession(id: string): void {
    this.#sessions.delete(id);
    this.#ended.delete(id);
  }

  addStream(id: string, runtime: Runtime): void {
    this.#streams.delete(id); // the newest are last
    this.#streams.set(id, runtime);
    if (this.#streams.size <= streamRoutesMax) return;
    const [oldest] = this.#streams.keys();
    this.#streams.delete(oldest!);
  }

  liveIn(runtime: Runtime): string[] {
    const all = [...this.#sessions].filter(([, route]) => route.runtime === runtime && route.isLive);
    return all.map(([id]) => id);
  }

  /** `live` are all live sessions of the runtime; the others have ended. */
  setLive(runtime: Runtime, live: Set<string>): void {
    for (const id of this.liveIn(runtime)) if (!live.has(id)) this.ended(id);
  }

  forget(runtime: Runtime): void {
    for (const [id, route] of this.#sessions) if (route.runtime === runtime) this.removeSession(id);
    for (const [id, holder] of this.#streams) if (holder === runtime) this.#streams.delete(id);
  }
}
