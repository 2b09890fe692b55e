// What a process prints, by two pipes. To begin with their reading takes as long as a tenth of a small command; for a
// shell that waits for its command it is begun ahead.
import { closeFd } from "../../platform/libc.ts";
import { PipeReader } from "./pipe-reader.ts";

export interface OutputPipes {
  stdout: PipeReader;
  stderr: PipeReader;
}

export class ProcessOutput {
  #pipes: OutputPipes | undefined;

  /** The read ends; they are closed at the end of what comes, or by `close`. */
  constructor(
    readonly stdoutFd: number,
    readonly stderrFd: number,
  ) {}

  /** The same two for everybody who asks. */
  open(): OutputPipes {
    this.#pipes ??= { stdout: new PipeReader(this.stdoutFd), stderr: new PipeReader(this.stderrFd) };
    return this.#pipes;
  }

  /** For output that nobody wants. */
  async close(): Promise<void> {
    if (this.#pipes) await Promise.all([this.#pipes.stdout.stop(), this.#pipes.stderr.stop()]);
    else for (const fd of [this.stdoutFd, this.stderrFd]) closeFd(fd);
  }
}
