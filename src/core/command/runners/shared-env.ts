// The environment that every shell of a session is started with. Most of it is the same for all sessions, so a session
// stores only the difference.
import { type Env, type EnvOverrides, overlayEnv } from "../../process/environment.ts";

export class SharedEnv {
  readonly #usual: Env;
  readonly #own: EnvOverrides;

  /** `usual` must not change afterwards. */
  constructor(env: Env, usual: Env) {
    const changes = changesTo(usual, env);
    const isSimilar = changes.length < Object.keys(env).length;
    this.#usual = isSimilar ? usual : {};
    this.#own = isSimilar ? Object.fromEntries(changes) : env;
  }

  /** A new object, which the caller may change. */
  all(): Env {
    return overlayEnv(this.#usual, this.#own);
  }
}

function changesTo(usual: Env, env: Env): [name: string, value: string | null][] {
  const removed = Object.keys(usual).filter((name) => !Object.hasOwn(env, name));
  const others = Object.entries(env).filter(
    ([name, value]) => !(Object.hasOwn(usual, name) && usual[name] === value),
  );
  return [...removed.map((name): [string, null] => [name, null]), ...others];
}
