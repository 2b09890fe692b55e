// Visits to a shell that waits: commands that it runs and then waits on. It says on a pipe of its own how each ended.
// Where one may have changed it, it is asked what it has become, and says on the same pipe that this is in the report's
// file. It is asked a moment later: to tell takes longer than most visits, and would keep a processor from the reply.

import { visitPatience } from "../limits.ts";
import { closeFd, cpuMsOf, hasInput } from "../process/libc.ts";
import { PipeReader } from "../process/pipe-reader.ts";
import { awaitShortly } from "../process/short-wait.ts";
import type { ProcessEnd, SpawnedProcess } from "../process/spawn.ts";
import { type ByteString, byteStringOf } from "./shell/byte-string.ts";
import { visitWords } from "./shell/dialect.ts";

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

export interface Visited {
  /** Has the shell read that word. */
  say(word: string): void;
  /** The report is there. */
  told(): void;
}

const stateNotice = "state";

/** Longer than a reply takes to arrive. Who comes sooner is served first. */
const tellAfterMs = 2;

/** In all sessions. Where there are several, none of them is waited for: they are to run beside each other. */
let underWay = 0;
/** The shell that was visited last, and when. Where another is visited so soon, several sessions are at work. */
let latest = { pid: 0, at: 0 };
const besideMs = 2;

export class ShellVisits {
  #pipe: PipeReader | undefined;
  #text: ByteString = "";
  #onEnd: (end: VisitEnd) => void = () => {};
  #report: PromiseWithResolvers<void> | undefined;
  #timer: Timer | undefined;
  #isOver = false;
  #shellEnded: (end: ProcessEnd) => void = () => {};

  constructor(
    readonly shell: SpawnedProcess,
    /** The read end of the pipe. */
    readonly fd: number,
    readonly visited: Visited,
  ) {
    void shell.exited.then((end) => this.#shellEnded(end));
  }

  /** `begin` is given what is to be done just before and just after. */
  prepare(begin: (justBefore: () => void, justAfter: () => void) => void): Visit {
    clearTimeout(this.#timer);
    const { pid, output } = this.shell;
    const { promise: exited, resolve } = Promise.withResolvers<ProcessEnd>();
    this.#shellEnded = resolve;
    const cpuBeforeMs = cpuMsOf(pid) ?? 0;
    underWay++;
    void exited.then(() => underWay--);
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
      begin: () =>
        begin(
          () => {
            this.#open();
            this.#onEnd = onEnd;
          },
          () => this.#awaitEnd(),
        ),
      get end() {
        return end;
      },
    };
  }

  /** Resolves when the shell has told its state, or cannot any more. Undefined where it takes no more visits. */
  tell(): Promise<void> | undefined {
    clearTimeout(this.#timer);
    if (this.#isOver) return undefined;
    if (!this.#report) {
      if (this.#open().isEnded) return undefined;
      this.#report = Promise.withResolvers();
      this.visited.say(visitWords.tell);
    }
    return this.#report.promise;
  }

  /** Where it was asked to tell, and has not done so. */
  get telling(): Promise<void> | undefined {
    return this.#report?.promise;
  }

  tellSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.tell(), tellAfterMs);
  }

  /** There will be no more. What is being read ends by itself, when the shell closes its side. */
  end(): void {
    clearTimeout(this.#timer);
    if (!this.#pipe && !this.#isOver) closeFd(this.fd);
    this.#isOver = true;
  }

  async close(): Promise<void> {
    this.end();
    await this.#pipe?.stop();
  }

  /**
   * Most visits are over before the next turn of the event loop would come. Nothing of this one was printed before this
   * turn, so that all of it is still in the pipes.
   */
  #awaitEnd(): void {
    const pipe = this.#open();
    const { pid } = this.shell;
    const began = performance.now();
    const isBeside = latest.pid !== pid && began - latest.at < besideMs;
    latest = { pid, at: began };
    // Where the shell has died, its descriptors may be another's.
    if (underWay > 1 || isBeside || pipe.isEnded) return;
    if (!awaitShortly(() => hasInput(this.fd), this.fd, visitPatience)) return;
    latest.at = performance.now();
    const { stdout, stderr } = this.shell.output.open();
    stdout.readNow();
    stderr.readNow();
    pipe.readNow();
  }

  #open(): PipeReader {
    if (!this.#pipe) {
      this.#pipe = new PipeReader(this.fd, (chunk) => this.#take(byteStringOf(chunk)));
      void this.#pipe.ended.then(() => this.#told());
    }
    return this.#pipe;
  }

  #take(text: ByteString): void {
    this.#text += text;
    for (let said = this.#nextSaid(); said; said = this.#nextSaid()) {
      const [status, workingDir, previousDir] = said;
      if (status === stateNotice) {
        this.visited.told();
        this.#told();
      } else {
        this.#onEnd({ exitCode: Number(status), workingDir, previousDir: previousDir || undefined });
      }
    }
  }

  /** Three fields, where they are whole. */
  #nextSaid(): [ByteString, ByteString, ByteString] | undefined {
    const text = this.#text;
    const first = text.indexOf("\0");
    const second = first === -1 ? -1 : text.indexOf("\0", first + 1);
    const third = second === -1 ? -1 : text.indexOf("\0", second + 1);
    if (third === -1) return undefined;
    this.#text = text.slice(third + 1);
    return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1, third)];
  }

  #told(): void {
    this.#report?.resolve();
    this.#report = undefined;
  }
}
