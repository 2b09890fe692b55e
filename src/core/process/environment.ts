// Variables on top of others. What a session inherits is in isolation/env-policy.ts.
import { type ByteString, fromText } from "./byte-string.ts";

export type Env = Record<string, string>;
export type EnvOverrides = Record<string, string | null>;

/** `null` unsets. */
export function overlayEnv(base: Env, overrides: EnvOverrides): Env {
  // Without a prototype: on an ordinary object the assignment of `__proto__` would be lost.
  const result: Env = Object.assign(Object.create(null), base);
  for (const [name, value] of Object.entries(overrides)) {
    if (value === null) delete result[name];
    else result[name] = value;
  }
  return result;
}

/** A name that shells can hold as a variable; others can only be handed over when a process is started. */
export const isShellName = (name: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

/** As a shell is told them. */
export function shellOverrides(env: EnvOverrides): [name: ByteString, value: ByteString | null][] {
  if (isEmpty(env)) return [];
  const named = Object.entries(env).filter(([name]) => isShellName(name));
  return named.map(([name, value]) => [name, value === null ? null : fromText(value)]);
}

/** Those that it cannot be told. */
export const oddVariables = (env: EnvOverrides): [string, string | null][] =>
  isEmpty(env) ? [] : Object.entries(env).filter(([name]) => !isShellName(name));

/** As it is for most commands. */
function isEmpty(env: EnvOverrides): boolean {
  for (const _ in env) return false;
  return true;
}
