// The interface of a pseudo-terminal driver: it starts a program on a terminal and passes bytes in both directions.
// It does not store or interpret output.

import type { ProcessUsage } from "../../../platform/process-usage.ts";
import type { DriverName } from "../../../protocol/pty.ts";
import type { Packing } from "../../../upgrade/schema/fields.ts";
import type { LivePtyState } from "../../../upgrade/schema/terminals.ts";
import type { Env } from "../../process/environment.ts";
import type { MasterReader } from "./master-reader-linux.ts";

export interface TerminalSize {
  cols: number;
  rows: number;
}

export interface PtySpec extends TerminalSize {
  /** An existing path of the program, and its arguments. */
  argv: [program: string, ...args: string[]];
  /** The complete environment of the program. */
  env: Env;
  /** Names of the daemon's own variables, for a driver that passes them on. */
  daemonVariables: string[];
  workingDir: string;
  /** The chunk is valid during the call only. */
  onOutput(chunk: Uint8Array): void;
}

export interface PtyExit {
  /** 128+n after signal n. */
  exitCode: number;
  signal: string | null;
}

export interface PtyProcess {
  readonly pid: number;
  /** Resolves when the program itself has exited. */
  readonly exited: Promise<void>;
  /** Resolves after `exited`, when all output was delivered and all descriptors are closed. */
  readonly ended: Promise<PtyExit>;
  /** Accepts everything and queues what the terminal does not take; `pendingBytes` is the length of that queue. */
  write(bytes: Uint8Array): void;
  readonly pendingBytes: number;
  /** The daemon's own reader (direct read); undefined while Bun or a library reads the output. */
  readonly reader?: MasterReader | undefined;
  resize(size: TerminalSize): void;
  /** Resource usage of the program and the children it waited for, after its exit; undefined if the driver has none. */
  usage(): ProcessUsage | undefined;
  /** The program has not exited as far as the daemon knows; an upgrade waits for `ended` otherwise. */
  readonly isAtRest: boolean;
  /** Saves the terminal for an upgrade; undefined if the driver cannot. */
  readonly pack?: ((packing: Packing) => LivePtyState) | undefined;
}

export interface DriverCapabilities {
  /** Bytes that are not valid UTF-8 arrive unchanged. */
  raw_bytes: boolean;
  /** The driver reports the signal that ended a program. */
  exit_signal: boolean;
}

export interface PtyDriver {
  readonly name: DriverName;
  readonly capabilities: DriverCapabilities;
  spawn(spec: PtySpec): PtyProcess;
}
