// The environment of a session: the daemon's, filtered as the session asked, with the session's on top.
import type { InheritEnv } from "../../protocol/session.ts";

export type Env = Record<string, string>;
export type EnvOverrides = Record<string, string | null>;

/** Words by which credentials usually go. Used by `inherit_env: "safe"`. */
const credentialWords = [
  /PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL/,
  /(?:^|_)(?:TOKENS?|PASS|AUTH|COOKIE|DSN|PAT)(?:_|$)/,
  /_PWD$/,
  /(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|MASTER|SESSION)_?KEY/,
  /^(?:AWS|AZURE|GCP|GOOGLE|OPENAI|ANTHROPIC|GITHUB|GITLAB|NPM|DOCKER)_.*KEY/,
  /(?:DATABASE|REDIS|MONGO|POSTGRES|MYSQL|AMQP)\w*_UR[IL]$/,
  /^SSH_AUTH_SOCK$/,
];
const isCredential = (name: string) => credentialWords.some((word) => word.test(name.toUpperCase()));

/** The daemon's own settings are none of a command's business; its token least of all. */
const isOwnSetting = (name: string) => name.startsWith("TRL_");

export function inheritedEnv(daemonEnv: Env, mode: InheritEnv): Env {
  if (mode === "none") return {};
  const names = Object.keys(daemonEnv).filter((name) => !isOwnSetting(name));
  const kept = mode === "all" ? names : names.filter((name) => !isCredential(name));
  return Object.fromEntries(kept.map((name) => [name, daemonEnv[name]!]));
}

/** `null` unsets. */
export function overlayEnv(base: Env, overrides: EnvOverrides): Env {
  const result = { ...base };
  for (const [name, value] of Object.entries(overrides)) {
    if (value === null) delete result[name];
    else result[name] = value;
  }
  return result;
}

/** A name that shells can hold as a variable; others can only be handed over when a process is started. */
export const isShellName = (name: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
