import type { DriverName } from "../protocol/pty.ts";

/** What the daemon was told and the core goes by. */
export interface CoreOptions {
  /** The daemon's own environment, from which sessions inherit. */
  env: Record<string, string>;
  /** A private directory (0700) for the files of shells; exists. */
  runDir: string;
  /** Names this daemon in the environment of what it starts. */
  daemonTag: string;
  defaultShell: string | undefined;
  ptyDriver: DriverName | "auto";
  defaultTimeoutS: number;
  maxOutputBytes: number;
  maxSessions: number;
  /** 0 = no limit, for the next three. */
  maxIdleS: number;
  sessionTtlS: number;
  sessionMaxCommands: number;
  /** 0 = derived from the system's limit. */
  fdWarningThreshold: number;
  /** 0 = no limit. */
  memoryPressureMb: number;
}
