// Runs commands in an idle shell, which goes on afterwards. The shell writes the exit code, its directories and the
// variables that the command may have changed to descriptor 6.
import { type ByteString, byteStringOf } from "../../core/process/byte-string.ts";
import { PipeReader } from "../../core/process/pipe-reader.ts";
import type { ProcessEnd, SpawnedProcess } from "../../core/process/spawn.ts";
import { closeFd } from "../../platform/libc.ts";
import { cpuMsOf } from "../../platform/process-usage.ts";

export interface InPlaceEnd {
  exitCode: number;
  workingDir: ByteString;
  previousDir: ByteString | undefined;
  /** As the shell lists them, empty where none was asked for; undefined where the list was too long. */
  variables: ByteString | undefined;
}

export interface InPlaceRun {
  /** The process as the command sees it: it ends when the command does. */
  process: SpawnedProcess;
  begin(): void;
  /** Undefined where the shell ended instead of reporting. */
  readonly end: InPlaceEnd | undefined;
}

/** A path may have 4096 bytes, twice; the rest is for variables. */
const listMaxChars = 1024 * 1024;

export class InPlaceRuns {
  #pipe: PipeReader | undefined;
  #text: ByteString = "";
  #chars = 0;
  #fields = 0;
  #onEnd: (end: InPlaceEnd) => void = () => {};
  /** How many fields the shell writes at the end of the run. */
  #fieldCount = 0;
  #isOver = false;
  #onShellEnd: (end: ProcessEnd) => void = () => {};

  constructor(
    readonly shell: SpawnedProcess,
    /** The read end of the pipe. */
    readonly fd: number,
  ) {
    void shell.exited.then((end) => this.#onShellEnd(end));
  }

  /** `begin` calls its argument just before it wakes the shell. */
  prepare(listsVariables: boolean, begin: (beforeWake: () => void) => void): InPlaceRun {
    const { pid, output } = this.shell;
    const { promise: exited, resolve } = Promise.withResolvers<ProcessEnd>();
    this.#onShellEnd = resolve;
    const cpuBeforeMs = cpuMsOf(pid) ?? 0;
    let end: InPlaceEnd | undefined;
    const onEnd = (reported: InPlaceEnd) => {
      end = reported;
      resolve({ exitCode: reported.exitCode, signal: null, goesOn: true });
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
          this.#pipe ??= new PipeReader(this.fd, (chunk) => this.#read(byteStringOf(chunk)));
          this.#onEnd = onEnd;
          this.#fieldCount = listsVariables ? 4 : 3;
        }),
      get end() {
        return end;
      },
    };
  }

  /** No more runs follow. A reader that is open ends when the shell closes its side. */
  end(): void {
    if (!this.#pipe && !this.#isOver) closeFd(this.fd);
    this.#isOver = true;
  }

  async close(): Promise<void> {
    this.end();
    await this.#pipe?.stop();
  }

  /** Counts what is beyond the limit, and drops it. */
  #read(text: ByteString): void {
    this.#fields += text.split("\0").length - 1;
    this.#chars += text.length;
    if (this.#chars <= listMaxChars) this.#text += text;
    if (this.#fields < this.#fieldCount) return; // a NUL ends each field
    const isTooLong = this.#chars > listMaxChars;
    const [status, workingDir, previousDir, listed = ""] = this.#text.split("\0") as [
      string,
      string,
      string,
      string?,
    ];
    this.#text = "";
    this.#fields = this.#chars = 0;
    const variables = isTooLong ? undefined : listed;
    this.#onEnd({ exitCode: Number(status), workingDir, previousDir: previousDir || undefined, variables });
  }
}
