// Terminals by Bun itself. Only the inline `terminal` option gives the program a controlling terminal.
import { closeSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { drainMaxMs, quietAfterExitMs } from "../limits.ts";
import { giveBack } from "../process/garbage.ts";
import { usageOf } from "../process/usage.ts";
import type { PtyDriver, PtyExit, PtyProcess, PtySpec, TerminalSize } from "./driver.ts";
import { duplicateMaster } from "./flow.ts";

/** Keystrokes; what is more may as well wait for its turn. */
const atOnceBytesMax = 1024;

export const nativeDriver: PtyDriver = {
  name: "native",
  capabilities: { raw_bytes: true, exit_signal: true },
  spawn: (spec) => new NativePty(spec),
};

class NativePty implements PtyProcess {
  readonly exited: Promise<void>;
  readonly ended: Promise<PtyExit>;
  readonly #child: Bun.Subprocess;
  #pendingBytes = 0;
  #masterFd: number | undefined;
  #chunks = 0;
  readonly #outputEnded = Promise.withResolvers<void>();

  constructor({ argv, env, workingDir, cols, rows, onOutput }: PtySpec) {
    this.#child = Bun.spawn(argv, {
      env,
      cwd: workingDir,
      terminal: {
        cols,
        rows,
        data: (_terminal, chunk) => {
          this.#chunks++;
          onOutput(chunk);
          giveBack(chunk);
        },
        // It comes after every write, when all of it has been taken.
        drain: () => {
          this.#pendingBytes = 0;
        },
        // The end of the output, not of the program.
        exit: () => this.#outputEnded.resolve(),
      },
    });
    this.#masterFd = duplicateMaster(this.pid);
    this.exited = this.#child.exited.then(() => {});
    this.ended = this.#end();
  }

  get pid(): number {
    return this.#child.pid;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  write(bytes: Uint8Array): void {
    const terminal = this.#child.terminal!;
    if (terminal.closed) return;
    const rest = this.#pendingBytes === 0 ? bytes.subarray(this.#writeAtOnce(bytes)) : bytes;
    if (rest.length === 0) return;
    this.#pendingBytes += rest.length;
    terminal.write(rest);
  }

  /** Bun's own write comes a turn of the event loop later: a keystroke's echo would take half as long again. */
  #writeAtOnce(bytes: Uint8Array): number {
    if (this.#masterFd === undefined || bytes.length > atOnceBytesMax) return 0;
    try {
      return writeSync(this.#masterFd, bytes);
    } catch {
      return 0; // it takes no more for now
    }
  }

  resize({ cols, rows }: TerminalSize): void {
    const terminal = this.#child.terminal!;
    if (!terminal.closed) terminal.resize(cols, rows);
  }

  usage() {
    return usageOf(this.#child);
  }

  async #end(): Promise<PtyExit> {
    await this.#child.exited;
    await Promise.race([this.#outputEnded.promise, this.#silence()]);
    this.#child.terminal!.close(); // or a descriptor is lost
    if (this.#masterFd !== undefined) closeSync(this.#masterFd);
    this.#masterFd = undefined;
    const signal = this.#child.signalCode as NodeJS.Signals | number | null;
    if (signal === null) return { exitCode: this.#child.exitCode ?? 0, signal: null };
    // Bun has no names for the real-time signals.
    if (typeof signal === "number") return { exitCode: 128 + signal, signal: `SIG${signal}` };
    return { exitCode: 128 + (constants.signals[signal] ?? 0), signal };
  }

  /** A background process may hold the terminal open for as long as it likes. */
  async #silence(): Promise<void> {
    const deadline = performance.now() + drainMaxMs;
    for (let before = -1; before !== this.#chunks && performance.now() < deadline; ) {
      before = this.#chunks;
      await Bun.sleep(quietAfterExitMs);
    }
  }
}
