// Options of the daemon that the core uses.
import type { DriverName } from "../protocol/pty.ts";
import type { InheritEnv } from "../protocol/session.ts";

export interface CoreOptions {
  /** The daemon's own environment, from which sessions inherit. */
  env: Record<string, string>;
  /** The default for sessions that set no policy. */
  envPolicy: EnvPolicy;
  /** The socket of this daemon and the files beside it. */
  secretPaths: string[];
  /** Runtime directories with discovery files of this user's daemons. A sandbox hides them. */
  runtimeDirs: string[];
  /** An existing private directory (0700) for the files of shells. */
  runDir: string;
  /** Identifies this daemon in the environment of the processes that it starts. */
  daemonTag: string;
  defaultShell: string | undefined;
  ptyDriver: DriverName | "auto";
  defaultTimeoutS: number;
  maxOutputBytes: number;
  maxSessions: number;
  /** 0 = no limit, also for the next three. */
  maxIdleS: number;
  sessionTtlS: number;
  sessionMaxCommands: number;
  sessionMaxProcesses: number;
  /** 0 = derived from the system's limit. */
  fdWarningThreshold: number;
  /** 0 = no limit. */
  memoryPressureMb: number;
}

/** Which of the daemon's variables a session inherits (isolation/env-policy.ts). */
export interface EnvPolicy {
  mode: InheritEnv;
  /** Patterns of names: `*` matches any text, `?` any character. Patterns are case-sensitive, like the names. */
  include: readonly string[];
  exclude: readonly string[];
}
