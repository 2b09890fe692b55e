import type { DriverName } from "../../protocol/pty.ts";
import type { RunnerAccelerators } from "../command/runners/accelerators.ts";
import type { EnvPolicy } from "../isolation/env-policy.ts";

/** Implementations of src/fast. What is absent or false takes the plain way. */
export interface CoreAccelerators {
  runners: RunnerAccelerators;
  /** `direct-read`: the daemon reads terminals itself, where the system allows it. Plain: Bun reads them. */
  readsDirectly: boolean;
  /** `simd`: how many bytes at the beginning are certainly plain text. Plain: 0. */
  plainStart?: (bytes: Uint8Array) => number;
}

/** What the daemon was told and the core goes by. */
export interface CoreOptions {
  accelerators: CoreAccelerators;
  /** The daemon's own environment, from which sessions inherit. */
  env: Record<string, string>;
  /** What sessions inherit of it, unless they ask otherwise. */
  envPolicy: EnvPolicy;
  /** What leads to this daemon: its socket and the files beside it. */
  secretPaths: string[];
  /** Where daemons of this user announce themselves: nothing in a sandbox may see them. */
  runtimeDirs: string[];
  /** A private directory (0700) for the files of shells; exists. */
  runDir: string;
  /** Names this daemon in the environment of what it starts. */
  daemonTag: string;
  defaultShell: string | undefined;
  ptyDriver: DriverName | "auto";
  defaultTimeoutS: number;
  maxOutputBytes: number;
  maxSessions: number;
  /** 0 = no limit, for the next four. */
  maxIdleS: number;
  sessionTtlS: number;
  sessionMaxCommands: number;
  sessionMaxProcesses: number;
  /** 0 = derived from the system's limit. */
  fdWarningThreshold: number;
  /** 0 = no limit. */
  memoryPressureMb: number;
}
