// Visits to a shell that waits: commands that it runs and then waits on. It says on a pipe of its own how each ended, and
// lists the variables that it may have changed.

import { closeFd } from "../../../platform/libc.ts";
import { cpuMsOf } from "../../../platform/process-usage.ts";
import { type ByteString, byteStringOf } from "../../process/byte-string.ts";
import { PipeReader } from "../../process/pipe-reader.ts";
import type { ProcessEnd, SpawnedProcess } from "../../process/spawn.ts";

export interface InPlaceEnd {
  exitCode: number;
  workingDir: ByteString;
  previousDir: ByteString | undefined;
  /** As the shell lists them, where it was asked to; undefined where that was too much. */
  variables: ByteString | undefined;
}

/** A command that the shell runs and then waits on. */
export interface InPlaceRun {
  /** As the command sees it: it ends when the command does. */
  process: SpawnedProcess;
  begin(): void;
  /** Undefined where the shell has not come to say it, but has ended itself. */
  readonly end: InPlaceEnd | undefined;
}

/** A path may have 4096 bytes, twice; the rest is for variables. */
const listMaxChars = 1024 * 1024;

export class InPlaceRuns {
  #pipe: PipeReader | undefined;
  #text: ByteString = "";
  #chars = 0;
  #ends = 0;
  #onEnd: (end: InPlaceEnd) => void = () => {};
  /** That the shell says at the end of the visit. */
  #fieldCount = 0;
  #isOver = false;
  #shellEnded: (end: ProcessEnd) => void = () => {};

  constructor(
    readonly shell: SpawnedProcess,
    /** The read end of the pipe. */
    readonly fd: number,
  ) {
    void shell.exited.then((end) => this.#shellEnded(end));
  }

  /** `begin` calls its argument just before it wakes the shell. */
  prepare(listsVariables: boolean, begin: (justBefore: () => void) => void): InPlaceRun {
    const { pid, output } = this.shell;
    const { promise: exited, resolve } = Promise.withResolvers<ProcessEnd>();
    this.#shellEnded = resolve;
    const cpuBeforeMs = cpuMsOf(pid) ?? 0;
    let end: InPlaceEnd | undefined;
    const onEnd = (said: InPlaceEnd) => {
      end = said;
      resolve({ exitCode: said.exitCode, signal: null, goesOn: true });
    };
    return {
      process: {
        ...{ pid, output, exited, stdinFd: undefined, extraFds: [], extraOutFds: [] },
        usage: () =>
          end
            ? { cpuMs: Math.max(0, (cpuMsOf(pid) ?? 0) - cpuBeforeMs), peakMemoryBytes: null }
            : this.shell.usage(),
      },
      begin: () =>
        begin(() => {
          this.#pipe ??= new PipeReader(this.fd, (chunk) => this.#take(byteStringOf(chunk)));
          this.#onEnd = onEnd;
          this.#fieldCount = listsVariables ? 4 : 3;
        }),
      get end() {
        return end;
      },
    };
  }

  /** There will be no more. What is being read ends by itself, when the shell closes its side. */
  end(): void {
    if (!this.#pipe && !this.#isOver) closeFd(this.fd);
    this.#isOver = true;
  }

  async close(): Promise<void> {
    this.end();
    await this.#pipe?.stop();
  }

  /** What is too much is counted, and not kept. */
  #take(text: ByteString): void {
    this.#ends += text.split("\0").length - 1;
    this.#chars += text.length;
    if (this.#chars <= listMaxChars) this.#text += text;
    if (this.#ends < this.#fieldCount) return; // behind each there is a NUL
    const isTooMuch = this.#chars > listMaxChars;
    const [status, workingDir, previousDir, listed = ""] = this.#text.split("\0") as [
      string,
      string,
      string,
      string?,
    ];
    this.#text = "";
    this.#ends = this.#chars = 0;
    const variables = isTooMuch ? undefined : listed;
    this.#onEnd({ exitCode: Number(status), workingDir, previousDir: previousDir || undefined, variables });
  }
}
