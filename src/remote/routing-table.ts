// Which id lives in which runtime, as far as it has been heard of. Of commands, and of sessions that have ended, only
// the latest are remembered: there is no end to them, and who asks for an older one waits for a search.
import type { RuntimesState } from "../upgrade/schema/document.ts";
import { endedRoutesMax, streamRoutesMax } from "./limits.ts";
import type { Runtime } from "./runtime.ts";

interface Place {
  runtime: Runtime;
  isLive: boolean;
}

export class Routes {
  readonly #sessions = new Map<string, Place>();
  /** Of the sessions; those that ended last are last. */
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

  /** Commands are found by a search. */
  pack(): RuntimesState["routes"] {
    return [...this.#sessions].map(([sessionId, { runtime, isLive }]) => ({
      sessionId,
      runtime: runtime.name,
      isLive,
    }));
  }

  /** Of a terminal something is kept for a while after its end. */
  ended(id: string): void {
    const place = this.#sessions.get(id);
    if (!place) return;
    place.isLive = false;
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
    const all = [...this.#sessions].filter(([, place]) => place.runtime === runtime && place.isLive);
    return all.map(([id]) => id);
  }

  /** These are all that live there. */
  keepOnly(runtime: Runtime, live: Set<string>): void {
    for (const id of this.liveIn(runtime)) if (!live.has(id)) this.ended(id);
  }

  forget(runtime: Runtime): void {
    for (const [id, place] of this.#sessions) if (place.runtime === runtime) this.removeSession(id);
    for (const [id, place] of this.#streams) if (place === runtime) this.#streams.delete(id);
  }
}
