// Variables on top of others. What a session inherits is in isolation/env-policy.ts.

export type Env = Record<string, string>;
export type EnvOverrides = Record<string, string | null>;

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
