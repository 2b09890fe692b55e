// What a session inherits of the daemon's environment, and what commands without a terminal are given instead.
import type { InheritEnv } from "../../protocol/session.ts";
import { isOwnSetting } from "../../util/engine-settings.ts";
import { looksLikeCredential } from "./credentials.ts";

type Env = Record<string, string>;

export interface EnvPolicy {
  mode: InheritEnv;
  /** Patterns of names: `*` is any text, `?` any character; case counts, as it does for the names themselves. */
  include: readonly string[];
  exclude: readonly string[];
}

/**
 * First by mode, then what is included on top, at last what is excluded: who excludes has the last word. The daemon's
 * own settings are none of a command's business; its token least of all. No pattern brings them back.
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

/** The daemon's patterns hold as well; a session may choose another mode, but not undo an exclusion. */
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
 * For commands, which have no terminal: nothing pages, and nothing asks where nobody can answer. They win over what
 * the daemon inherited from somebody's desktop (its PAGER=less is for another place), and the session's own `env` wins
 * over them. A session that inherits nothing gets none of them: its environment is exactly what it was given.
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

/** Unless the policy keeps the name out. */
export function nonInteractiveDefaults({ mode, exclude }: EnvPolicy): Env {
  if (mode === "none") return {};
  const isExcluded = matcher(exclude);
  return Object.fromEntries(Object.entries(nonInteractive).filter(([name]) => !isExcluded(name)));
}

const matcher = (patterns: readonly string[]) => (name: string) =>
  patterns.some((pattern) => matches(pattern, name));

/** Not by a regular expression: one with many stars can take for ever. Here the last star alone is tried again. */
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
