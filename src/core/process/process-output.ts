// The two output pipes of a process. Opening their readers takes a tenth of the time of a small command, so a warm shell's
// are opened before its command comes.
import { closeFd } from "../../platform/libc.ts";
import { PipeReader } from "./pipe-reader.ts";

export interface OutputPipes {
  stdout: PipeReader;
  stderr: PipeReader;
}

export class ProcessOutput {
  #pipes: OutputPipes | undefined;

  /** Takes the read ends, which are closed at end of file or by `close`. */
  constructor(
    readonly stdoutFd: number,
    readonly stderrFd: number,
  ) {}

  /** Starts reading. Each call returns the same readers. */
  open(): OutputPipes {
    this.#pipes ??= { stdout: new PipeReader(this.stdoutFd), stderr: new PipeReader(this.stderrFd) };
    return this.#pipes;
  }

  /** Discards the output. */
  async close(): Promise<void> {
    if (this.#pipes) await Promise.all([this.#pipes.stdout.stop(), this.#pipes.stderr.stop()]);
    else for (const fd of [this.stdoutFd, this.stderrFd]) closeFd(fd);
  }
}
