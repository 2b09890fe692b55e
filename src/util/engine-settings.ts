// Settings of the JavaScript engine that a daemon chooses. They are read once, before any of our code: they must be in
// the environment.

/**
 * What has run some thousand times is compiled once more, for the last time and best, on threads that take the
 * processors from everybody. A daemon's functions get there together, in the middle of somebody's typing, and gain
 * nothing; loops over megabytes gain half. With twenty times as many runs it is the loops alone.
 */
export const compileLater: Record<string, string> = {
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "1280000",
};

/**
 * With these it starts no threads of its own while the program runs: where it needs one and cannot have it, it ends the
 * program.
 */
export const withoutThreads: Record<string, string> = {
  BUN_JSC_useConcurrentJIT: "0",
  BUN_JSC_numberOfGCMarkers: "1",
};

type Environment = Record<string, string | undefined>;

/** Names those that were set by trl itself. */
const mark = "TRL_ENGINE_SETTINGS";
/** The same for those without threads, in a daemon that was started by an earlier version. */
const formerMark = "TRL_WITHOUT_THREADS";

export const isSettled = (env: Environment): boolean => env[mark] !== undefined;

/** What is to be added to the environment; undefined where all of them are said already, by whomever. */
export function missingSettings(
  settings: Record<string, string>,
  env: Environment,
): Record<string, string> | undefined {
  const missing = Object.entries(settings).filter(([name]) => env[name] === undefined);
  if (missing.length === 0) return undefined;
  return { ...Object.fromEntries(missing), [mark]: missing.map(([name]) => name).join(",") };
}

/** What is the daemon's own business in its environment, and nobody's whom it starts. */
export const isOwnSetting = (name: string, env: Environment): boolean =>
  name.startsWith("TRL_") || ownNames(env).includes(name);

function ownNames(env: Environment): string[] {
  const former = env[formerMark] === undefined ? [] : Object.keys(withoutThreads);
  return [...(env[mark]?.split(",") ?? []), ...former];
}
