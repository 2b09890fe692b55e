// Overrides of environment variables. Which variables a session inherits is decided in isolation/env-policy.ts.
import { type ByteString, fromText } from "./byte-string.ts";

export type Env = Record<string, string>;
export type EnvOverrides = Record<string, string | null>;

/** A `null` unsets the variable. */
export function overlayEnv(base: Env, overrides: EnvOverrides): Env {
  // Without a prototype, because an ordinary object ignores an assignment to `__proto__`.
  const result: Env = Object.assign(Object.create(null), base);
  for (const [name, value] of Object.entries(overrides)) {
    if (value === null) delete result[name];
    else result[name] = value;
  }
  return result;
}

/** Whether a shell can have a variable of this name; others can only be passed when a process is started. */
export const isShellName = (name: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

/** The overrides that a shell can apply itself. */
export function shellOverrides(env: EnvOverrides): [name: ByteString, value: ByteString | null][] {
  if (isEmpty(env)) return [];
  const named = Object.entries(env).filter(([name]) => isShellName(name));
  return named.map(([name, value]) => [name, value === null ? null : fromText(value)]);
}

/** The overrides that a shell cannot apply. */
export const oddVariables = (env: EnvOverrides): [string, string | null][] =>
  isEmpty(env) ? [] : Object.entries(env).filter(([name]) => !isShellName(name));

/** Most commands have no overrides. */
function isEmpty(env: EnvOverrides): boolean {
  for (const _ in env) return false;
  return true;
}
