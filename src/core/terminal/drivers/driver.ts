// What a driver of pseudo-terminals must give. Bytes in, bytes out; who reads them and how is not its business.

import type { DriverName } from "../../../protocol/pty.ts";
import type { Packing } from "../../../upgrade/schema/fields.ts";
import type { LivePtyState } from "../../../upgrade/schema/terminals.ts";
import type { ProcessUsage } from "../../isolation/meter.ts";
import type { Env } from "../../process/environment.ts";
import type { MasterReader } from "./master-reader-linux.ts";

export interface TerminalSize {
  cols: number;
  rows: number;
}

export interface PtySpec extends TerminalSize {
  /** The program as a path that exists, and its arguments. */
  argv: [program: string, ...args: string[]];
  /** All of the program's environment, and nothing else. */
  env: Env;
  /** Names of the daemon's own variables, for a driver that would pass them on. */
  daemonVariables: string[];
  workingDir: string;
  /** The daemon reads the output itself, where the system allows it; otherwise Bun does. */
  readsDirectly: boolean;
  /** The chunk may be used during the call, and not be kept. */
  onOutput(chunk: Uint8Array): void;
}

export interface PtyExit {
  /** 128+n for a death by signal. */
  exitCode: number;
  signal: string | null;
}

export interface PtyProcess {
  readonly pid: number;
  /** The program itself has ended. */
  readonly exited: Promise<void>;
  /** Resolves when the program has ended and what it had written has been handed over; everything is closed then. */
  readonly ended: Promise<PtyExit>;
  /** Takes everything; `pendingBytes` says how much of it the program's side has not taken yet. */
  write(bytes: Uint8Array): void;
  readonly pendingBytes: number;
  /** Absent where Bun or a library reads the output. */
  readonly reader?: MasterReader | undefined;
  resize(size: TerminalSize): void;
  /** Of the program and of what it waited for, once it has ended; undefined where the driver does not tell. */
  usage(): ProcessUsage | undefined;
  /** The program runs, and nobody has seen its end yet. */
  readonly isAtRest: boolean;
  /** Hands it to the program that comes. Absent where the driver cannot. */
  readonly pack?: ((packing: Packing) => LivePtyState) | undefined;
}

export interface DriverCapabilities {
  /** Bytes that are no text arrive as they were written. */
  raw_bytes: boolean;
  /** The signal that ended a program is told. */
  exit_signal: boolean;
}

export interface PtyDriver {
  readonly name: DriverName;
  readonly capabilities: DriverCapabilities;
  spawn(spec: PtySpec): PtyProcess;
}
