// Terminals by Bun itself. Only the inline `terminal` option gives the program a controlling terminal. On Linux the daemon
// then reads, writes and resizes the terminal by a descriptor of its own, and Bun's are closed.
import { constants } from "node:os";
import { duplicateMaster, readMaster, setSize } from "../../../platform/terminal.ts";
import type { Packing } from "../../../upgrade/schema/fields.ts";
import type { LivePtyState } from "../../../upgrade/schema/terminals.ts";
import { rollBack } from "../../process/garbage.ts";
import { usageOf } from "../../process/usage.ts";
import { silence } from "../idle-wait.ts";
import type { PtyDriver, PtyExit, PtyProcess, PtySpec, TerminalSize } from "./driver.ts";
import { MasterWriter } from "./master-writer.ts";

export const nativeDriver: PtyDriver = {
  name: "native",
  capabilities: { raw_bytes: true, exit_signal: true },
  spawn: (spec) => new NativePty(spec),
};

class NativePty implements PtyProcess {
  readonly exited: Promise<void>;
  readonly ended: Promise<PtyExit>;
  readonly #child: Bun.Subprocess;
  /** Where there is none (macOS), Bun itself writes. */
  readonly #writer: MasterWriter | undefined;
  #pendingBytes = 0;
  #chunks = 0;
  #hasExited = false;
  #isClosed = false;
  readonly reader: PtyProcess["reader"];
  readonly pack: PtyProcess["pack"];
  readonly #outputEnded = Promise.withResolvers<void>();

  constructor({ argv, env, workingDir, cols, rows, readsDirectly, onOutput }: PtySpec) {
    const printed = (chunk: Uint8Array) => {
      this.#chunks++;
      onOutput(chunk);
    };
    this.#child = Bun.spawn(argv, {
      env,
      cwd: workingDir,
      terminal: {
        cols,
        rows,
        data: (_terminal, chunk) => {
          printed(chunk);
          rollBack(chunk);
        },
        // It comes after every write, when all of it has been taken.
        drain: () => {
          this.#pendingBytes = 0;
        },
        // The end of the output, not of the program.
        exit: () => this.#outputEnded.resolve(),
      },
    });
    const masterFd = duplicateMaster(this.pid);
    if (masterFd !== undefined) {
      this.#writer = new MasterWriter(masterFd);
      if (readsDirectly) this.reader = readMaster(masterFd, printed);
      if (this.reader) this.#terminal.close(); // Bun reads no more; our descriptor keeps the terminal open
      this.pack = (packing) => this.#pack(packing);
    }
    this.exited = this.#child.exited.then(() => {
      this.#hasExited = true;
      this.reader?.programEnded();
    });
    this.ended = this.#end();
  }

  get #terminal(): Bun.Terminal {
    return this.#child.terminal!;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get pendingBytes(): number {
    return this.#writer?.pendingBytes ?? this.#pendingBytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    if (this.#writer) {
      this.#writer.write(bytes);
    } else {
      this.#pendingBytes += bytes.length;
      this.#terminal.write(bytes);
    }
  }

  get isAtRest(): boolean {
    return !this.#hasExited;
  }

  #pack(packing: Packing): LivePtyState {
    const { fd, pending } = this.#writer!;
    return { masterFd: packing.descriptor(fd), pending: packing.bytes(pending) };
  }

  resize(size: TerminalSize): void {
    if (this.#isClosed) return;
    if (this.#writer) setSize(this.#writer.fd, size);
    else this.#terminal.resize(size.cols, size.rows);
  }

  usage() {
    return usageOf(this.#child);
  }

  async #end(): Promise<PtyExit> {
    await this.#child.exited;
    const outputEnded = this.reader?.ended ?? this.#outputEnded.promise;
    await Promise.race([outputEnded, silence(() => this.#chunks)]);
    this.#isClosed = true;
    this.reader?.finish();
    this.#terminal.close(); // or a descriptor is lost
    this.#writer?.close();
    const signal = this.#child.signalCode as NodeJS.Signals | number | null;
    if (signal === null) return { exitCode: this.#child.exitCode ?? 0, signal: null };
    // Bun has no names for the real-time signals.
    if (typeof signal === "number") return { exitCode: 128 + signal, signal: `SIG${signal}` };
    return { exitCode: 128 + (constants.signals[signal] ?? 0), signal };
  }
}
