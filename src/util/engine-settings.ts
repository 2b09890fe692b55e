// Settings with which the JavaScript engine starts no threads of its own while the program runs: where it needs one and
// cannot have it, it ends the program. They are read once, before any of our code: they must be in the environment.

export const withoutThreads: Record<string, string> = {
  BUN_JSC_useConcurrentJIT: "0",
  BUN_JSC_numberOfGCMarkers: "1",
};

/** Tells that they were set by trl itself. */
export const withoutThreadsMark = "TRL_WITHOUT_THREADS";

/** What is the daemon's own business in its environment, and nobody's whom it starts. */
export const isOwnSetting = (name: string, env: Record<string, string | undefined>): boolean =>
  name.startsWith("TRL_") || (env[withoutThreadsMark] !== undefined && Object.hasOwn(withoutThreads, name));
