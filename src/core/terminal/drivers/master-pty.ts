// A running program's terminal, as native.ts and adopted.ts share it: input, output and the end of the program. The
// daemon's own descriptor of the master (MasterWriter, MasterReader) or Bun does the reading and writing.

import type { Packing } from "../../../upgrade/schema/fields.ts";
import type { LivePtyState } from "../../../upgrade/schema/terminals.ts";
import type { ProcessUsage } from "../../isolation/meter.ts";
import { drainMaxMs, quietAfterExitMs } from "../../limits.ts";
import type { PtyExit, PtyProcess, PtySpec, TerminalSize } from "./driver.ts";
import { MasterReader } from "./master-reader-linux.ts";

/** The process on the terminal, started by Bun or before an upgrade. */
export interface PtyProgram {
  readonly pid: number;
  readonly exit: Promise<PtyExit>;
  usage(): ProcessUsage | undefined;
}

export interface PtyInput {
  readonly pendingBytes: number;
  write(bytes: Uint8Array): void;
  resize(size: TerminalSize): void;
  close(): void;
  pack?(packing: Packing): LivePtyState;
}

export interface PtyOutput {
  /** Resolves when no process has the terminal open any more and all output was delivered. */
  readonly ended: Promise<void>;
  /** The program has exited; background processes may still have the terminal open. */
  programEnded?(): void;
  /** Delivers what is left and stops reading. */
  finish(): void | Promise<void>;
}

/** Direct read: the daemon's own reader of the master. Where this returns undefined, Bun reads the terminal. */
export function directReader(masterFd: number, onOutput: PtySpec["onOutput"]): MasterReader | undefined {
  return process.platform === "linux" ? MasterReader.start(masterFd, onOutput) : undefined;
}

/** Counts chunks on their way to `onOutput`, to detect that no more output arrives after the program's exit. */
export class OutputCounter {
  #chunks = 0;

  constructor(readonly onOutput: PtySpec["onOutput"]) {}

  readonly push = (chunk: Uint8Array): void => {
    this.#chunks++;
    this.onOutput(chunk);
  };

  /** Resolves after a short time without output, or after `drainMaxMs`: a background process may print for ever. */
  async idle(): Promise<void> {
    const deadline = performance.now() + drainMaxMs;
    for (let before = -1; before !== this.#chunks && performance.now() < deadline; ) {
      before = this.#chunks;
      await Bun.sleep(quietAfterExitMs);
    }
  }
}

export class MasterPty implements PtyProcess {
  readonly exited: Promise<void>;
  readonly ended: Promise<PtyExit>;
  readonly reader: PtyProcess["reader"];
  readonly pack: PtyProcess["pack"];
  #hasExited = false;
  #isClosed = false;

  constructor(
    readonly program: PtyProgram,
    readonly input: PtyInput,
    readonly output: PtyOutput,
    counter: OutputCounter,
  ) {
    this.reader = output instanceof MasterReader ? output : undefined;
    this.pack = input.pack?.bind(input);
    this.exited = program.exit.then(() => {
      this.#hasExited = true;
      output.programEnded?.();
    });
    this.ended = program.exit.then(async (exit) => {
      await Promise.race([output.ended, counter.idle()]);
      await this.#close();
      return exit;
    });
  }

  get pid(): number {
    return this.program.pid;
  }

  get pendingBytes(): number {
    return this.input.pendingBytes;
  }

  write(bytes: Uint8Array): void {
    if (!this.#isClosed) this.input.write(bytes);
  }

  resize(size: TerminalSize): void {
    if (!this.#isClosed) this.input.resize(size);
  }

  usage(): ProcessUsage | undefined {
    return this.program.usage();
  }

  get isAtRest(): boolean {
    return !this.#hasExited;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    await this.output.finish();
    this.input.close();
  }
}
