// The variables that every shell of a session is started with. Nearly all of them are those of all other sessions, too:
// these are held once, and the session holds what is different. They are as they were when it was created.
import { type Env, type EnvOverrides, overlayEnv } from "../../process/environment.ts";

export class SharedEnv {
  readonly #usual: Env;
  readonly #own: EnvOverrides;

  /** What is usual must not change any more. */
  constructor(env: Env, usual: Env) {
    const changes = changesTo(usual, env);
    const isAkin = changes.length < Object.keys(env).length;
    this.#usual = isAkin ? usual : {};
    this.#own = isAkin ? Object.fromEntries(changes) : env;
  }

  /** The caller's own. */
  all(): Env {
    return overlayEnv(this.#usual, this.#own);
  }
}

function changesTo(usual: Env, env: Env): [name: string, value: string | null][] {
  const gone = Object.keys(usual).filter((name) => !Object.hasOwn(env, name));
  const others = Object.entries(env).filter(
    ([name, value]) => !(Object.hasOwn(usual, name) && usual[name] === value),
  );
  return [...gone.map((name): [string, null] => [name, null]), ...others];
}
