// Settings of the JavaScript engine for a daemon. The engine reads them from the environment before any code of trl runs,
// so the process that starts a daemon sets them.

/**
 * The engine compiles a function for the last time, and best, after some thousand calls, on threads that compete with
 * the daemon and its clients for the processors. The functions of a daemon get there together, while a client types, and
 * gain nothing; loops over megabytes gain half. With twenty times as many calls only the loops get there.
 */
export const compileLater: Record<string, string> = {
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "1280000",
};

/** The engine starts no threads while the program runs. It ends the program where it cannot start one that it needs. */
export const withoutThreads: Record<string, string> = {
  BUN_JSC_useConcurrentJIT: "0",
  BUN_JSC_numberOfGCMarkers: "1",
};

type Environment = Record<string, string | undefined>;

const ownValues: Record<string, string> = { ...compileLater, ...withoutThreads };

/** Variables for the daemon alone, which the commands that it runs do not inherit. Another value is a setting of the user. */
export const isOwnSetting = (name: string, env: Environment): boolean =>
  name.startsWith("TRL_") || (Object.hasOwn(ownValues, name) && env[name] === ownValues[name]);

export const hasThreads = (env: Environment): boolean =>
  Object.entries(withoutThreads).some(([name, value]) => env[name] !== value);
