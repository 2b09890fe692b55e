// The default driver: Bun starts the program, as only the inline `terminal` option of Bun.spawn makes the terminal the
// program's controlling terminal. On Linux the daemon then reads, writes and resizes it by its own descriptor.
import { constants } from "node:os";
import { freeChunk } from "../../../platform/garbage.ts";
import { usageOf } from "../../../platform/process-usage.ts";
import { duplicateMaster } from "../../../platform/terminal.ts";
import type { ProcessUsage } from "../../isolation/meter.ts";
import type { PtyDriver, PtyExit, PtyProcess, PtySpec, TerminalSize } from "./driver.ts";
import {
  directReader,
  MasterPty,
  OutputCounter,
  type PtyInput,
  type PtyOutput,
  type PtyProgram,
} from "./master-pty.ts";
import { MasterWriter } from "./master-writer.ts";

export const nativeDriver: PtyDriver = {
  name: "native",
  capabilities: { raw_bytes: true, exit_signal: true },
  spawn,
};

function spawn(spec: PtySpec): PtyProcess {
  const counter = new OutputCounter(spec.onOutput);
  const bun = new BunTerminal(spec, counter.push);
  const masterFd = duplicateMaster(bun.pid);
  if (masterFd === undefined) return new MasterPty(bun, bun, bun, counter); // macOS
  const reader = directReader(masterFd, counter.push);
  if (reader) bun.close(); // Bun must not read the same output; the daemon's descriptor keeps the terminal open
  return new MasterPty(bun, new MasterWriter(masterFd), reader ?? bun, counter);
}

/** The program as Bun's child. Bun reads and writes its terminal where the daemon does not do so itself. */
class BunTerminal implements PtyProgram, PtyInput, PtyOutput {
  readonly ended: Promise<void>;
  readonly exit: Promise<PtyExit>;
  readonly #child: Bun.Subprocess;
  #pendingBytes = 0;

  constructor({ argv, env, workingDir, cols, rows }: PtySpec, onOutput: PtySpec["onOutput"]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#child = Bun.spawn(argv, {
      env,
      cwd: workingDir,
      terminal: {
        cols,
        rows,
        data: (_terminal, chunk) => {
          onOutput(chunk);
          freeChunk(chunk);
        },
        // Bun calls this after each write, once the terminal has taken everything.
        drain: () => {
          this.#pendingBytes = 0;
        },
        // The end of the output, not of the program.
        exit: () => resolve(),
      },
    });
    this.exit = this.#child.exited.then(() => exitOf(this.#child));
  }

  get pid(): number {
    return this.#child.pid;
  }

  usage(): ProcessUsage | undefined {
    return usageOf(this.#child);
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  write(bytes: Uint8Array): void {
    this.#pendingBytes += bytes.length;
    this.#child.terminal!.write(bytes);
  }

  resize({ cols, rows }: TerminalSize): void {
    this.#child.terminal!.resize(cols, rows);
  }

  finish(): void {
    this.close();
  }

  close(): void {
    this.#child.terminal!.close();
  }
}

function exitOf({ exitCode, signalCode }: Bun.Subprocess): PtyExit {
  const signal = signalCode as NodeJS.Signals | number | null;
  if (signal === null) return { exitCode: exitCode ?? 0, signal: null };
  // Bun has no names for the real-time signals.
  if (typeof signal === "number") return { exitCode: 128 + signal, signal: `SIG${signal}` };
  return { exitCode: 128 + (constants.signals[signal] ?? 0), signal };
}
