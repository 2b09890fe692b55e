// Visits to a shell that waits: commands that it runs and then waits on. It says on a pipe of its own how each ended,
// and, where the command may have changed it, once more when its state is in the report's file.

import { closeFd, cpuMsOf } from "../process/libc.ts";
import { PipeReader } from "../process/pipe-reader.ts";
import type { ProcessEnd, SpawnedProcess } from "../process/spawn.ts";
import { type ByteString, byteStringOf } from "./shell/byte-string.ts";
import type { VisitKind } from "./shell/visit-kind.ts";

export interface VisitEnd {
  exitCode: number;
  workingDir: ByteString;
  previousDir: ByteString | undefined;
}

/** A command that the shell runs and then waits on. */
export interface Visit {
  /** As the command sees it: it ends when the command does. */
  process: SpawnedProcess;
  begin(): void;
  /** Undefined where the shell has not come to say it, but has ended itself. */
  readonly end: VisitEnd | undefined;
}

const stateNotice = "state";

export class ShellVisits {
  #pipe: PipeReader | undefined;
  #text: ByteString = "";
  #onEnd: (end: VisitEnd) => void = () => {};
  #onState: () => void = () => {};
  #report: PromiseWithResolvers<void> | undefined;
  #isOver = false;
  #shellEnded: (end: ProcessEnd) => void = () => {};

  constructor(
    readonly shell: SpawnedProcess,
    /** The read end of the pipe. */
    readonly fd: number,
  ) {
    void shell.exited.then((end) => this.#shellEnded(end));
  }

  /** `onState` is called when the report is there; `begin` is given what is to be done just before. */
  prepare(kind: VisitKind, onState: () => void, begin: (justBefore: () => void) => void): Visit {
    const { pid, output } = this.shell;
    const { promise: exited, resolve } = Promise.withResolvers<ProcessEnd>();
    this.#shellEnded = resolve;
    const cpuBeforeMs = cpuMsOf(pid) ?? 0;
    let end: VisitEnd | undefined;
    const onEnd = (said: VisitEnd) => {
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
      begin: () => begin(() => this.#expect(kind, onEnd, onState)),
      get end() {
        return end;
      },
    };
  }

  #expect(kind: VisitKind, onEnd: (end: VisitEnd) => void, onState: () => void): void {
    this.#pipe ??= this.#open();
    this.#onEnd = onEnd;
    this.#onState = onState;
    if (kind === "changing") this.#report = Promise.withResolvers();
  }

  /** Resolves when the shell has told its state, or cannot any more. Undefined where it has nothing to tell. */
  get report(): Promise<void> | undefined {
    return this.#report?.promise;
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

  #open(): PipeReader {
    const pipe = new PipeReader(this.fd, (chunk) => this.#take(byteStringOf(chunk)));
    void pipe.ended.then(() => this.#told());
    return pipe;
  }

  #take(text: ByteString): void {
    const fields = (this.#text + text).split("\0");
    for (; fields.length > 3; fields.splice(0, 3)) {
      const [status, workingDir, previousDir] = fields as [ByteString, ByteString, ByteString];
      if (status === stateNotice) {
        this.#onState();
        this.#told();
      } else {
        this.#onEnd({ exitCode: Number(status), workingDir, previousDir: previousDir || undefined });
      }
    }
    this.#text = fields.join("\0");
  }

  #told(): void {
    this.#report?.resolve();
    this.#report = undefined;
  }
}
