// Which variables of the daemon's environment a session inherits, and the defaults of commands without a terminal.
import type { InheritEnv } from "../../protocol/session.ts";
import { isOwnSetting } from "../../util/engine-settings.ts";
import type { EnvPolicy } from "../options.ts";
import { looksLikeCredential } from "./credentials.ts";

type Env = Record<string, string>;

/**
 * Applies the mode, then `include`, then `exclude`: an exclusion always wins. The daemon's own settings (TRL_*, its
 * token) are never inherited, and no pattern includes them.
 */
export function inheritedEnv(daemonEnv: Env, { mode, include, exclude }: EnvPolicy): Env {
  const isIncluded = matcher(include);
  const isExcluded = matcher(exclude);
  const isInherited = {
    all: () => true,
    safe: (name: string) => !looksLikeCredential(name),
    none: () => false,
  }[mode];
  const names = Object.keys(daemonEnv).filter((name) => !isOwnSetting(name, daemonEnv) && !isExcluded(name));
  const kept = names.filter((name) => isInherited(name) || isIncluded(name));
  return Object.fromEntries(kept.map((name) => [name, daemonEnv[name]!]));
}

/** A session can choose another mode and add patterns, but cannot undo an exclusion of the daemon. */
export function mergePolicy(
  daemon: EnvPolicy,
  asked: {
    inherit_env?: InheritEnv | undefined;
    env_include?: string[] | undefined;
    env_exclude?: string[] | undefined;
  },
): EnvPolicy {
  return {
    mode: asked.inherit_env ?? daemon.mode,
    include: [...daemon.include, ...(asked.env_include ?? [])],
    exclude: [...daemon.exclude, ...(asked.env_exclude ?? [])],
  };
}

/**
 * For commands, which have no terminal: they disable pagers and prompts. They override inherited variables (PAGER=less
 * of a desktop), and the session's own `env` overrides them. A session with the mode `none` gets none of them: its
 * environment is exactly its `env`.
 */
export const nonInteractive: Env = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GCM_INTERACTIVE: "never",
  DEBIAN_FRONTEND: "noninteractive",
};

/** Without excluded names. */
export function nonInteractiveDefaults({ mode, exclude }: EnvPolicy): Env {
  if (mode === "none") return {};
  const isExcluded = matcher(exclude);
  return Object.fromEntries(Object.entries(nonInteractive).filter(([name]) => !isExcluded(name)));
}

const matcher = (patterns: readonly string[]) => (name: string) =>
  patterns.some((pattern) => matches(pattern, name));

/** No regular expression, which takes exponential time for many stars. Only the last star is ever retried. */
export function matches(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let starAt = 0;
  let i = 0;
  while (i < name.length) {
    if (pattern[at] === "*") {
      star = at++;
      starAt = i;
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === name[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++starAt;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
