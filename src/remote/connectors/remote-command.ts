// A command that runs a shell script in a runtime (ssh, docker exec, kubectl exec). The script first prints one answer;
// after that the command's input and output may carry frames or a file.
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { Carrier, CarrierEvents } from "../../client/carriers/carrier.ts";
import { lineReader } from "../../client/carriers/lines.ts";
import { childProcesses, streams } from "../../util/lazy-modules.ts";

export interface RemoteCommandSetup {
  argv: readonly string[];
  env: Record<string, string | undefined>;
  /** Prefix of the script's answer, which distinguishes it from other output. */
  mark: string;
  /** The error for a command that has ended, by the end of its standard error. */
  failure(message: string, stderr: string, exitCode: number | null): Error;
  /** For error messages. */
  label: string;
}

/** Length of the end of standard error that is kept. */
const stderrTailChars = 600;
/** The cause is in the last lines, after banners and warnings. */
const stderrTailLines = 4;
/** Limit for output of start files and banners before the answer. */
const noiseMaxBytes = 1024 * 1024;
/** The remote end exits when its input ends, unless the link is dead: then the command is killed. */
const closeGraceMs = 1000;

export class RemoteShellCommand {
  readonly #child: ChildProcess;
  readonly #setup: RemoteCommandSetup;
  readonly #answer = Promise.withResolvers<string>();
  #received = Buffer.alloc(0);
  #stderr = "";
  #onData: ((chunk: Uint8Array) => void) | undefined;
  #onEnd: ((error: Error) => void) | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(setup: RemoteCommandSetup) {
    this.#setup = setup;
    const [program = "", ...args] = setup.argv;
    const child = childProcesses().spawn(program, args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: setup.env as NodeJS.ProcessEnv,
    });
    this.#child = child;
    this.#answer.promise.catch(() => {}); // `answer` reports it
    child.on("error", (error) => this.#end(new Error(`${program} cannot be started: ${error.message}`)));
    child.stdin?.on("error", () => {}); // "close" reports the end
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-stderrTailChars);
    });
    child.stdout?.on("data", (chunk: Buffer) => this.#receive(chunk));
    child.on("close", (code, signal) => this.#end(this.#failure(code, signal)));
  }

  /** The script's answer, without the mark. Rejects if the command ends first, or after the timeout. */
  async answer(timeoutMs: number, onTimeout: () => void = () => {}): Promise<string> {
    const timer = setTimeout(() => {
      onTimeout();
      this.#end(new Error(`${this.#setup.label} did not answer within ${timeoutMs / 1000} s`));
      this.#child.kill("SIGKILL");
    }, timeoutMs);
    return await this.#answer.promise.finally(() => clearTimeout(timer));
  }

  /** Uses the output after the answer as frames. */
  carry({ message, closed }: CarrierEvents): Carrier {
    const onData = lineReader(message);
    this.#onEnd = closed;
    this.#onData = onData;
    // After the caller has the carrier.
    queueMicrotask(() => {
      onData(this.#received.subarray());
      this.#received = Buffer.alloc(0);
      this.#child.stdout?.resume();
    });
    const { stdin } = this.#child;
    return { send: (frame) => void stdin?.write(`${frame}\n`), close: () => this.close() };
  }

  /** Pipes a file to the script. The script may end before it has read everything. */
  async feed(...input: [Readable, ...NodeJS.ReadWriteStream[]]): Promise<void> {
    await streams()
      .pipeline([...input, this.#child.stdin!])
      .catch(() => {});
  }

  /** Resolves when the command has ended. */
  async close(): Promise<void> {
    this.#onEnd = undefined;
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), closeGraceMs);
    this.#child.stdin?.end();
    this.#child.stdout?.resume();
    await this.#ended.promise;
    clearTimeout(timer);
  }

  #receive(chunk: Buffer): void {
    if (this.#onData) {
      this.#onData(chunk);
      return;
    }
    this.#received = Buffer.concat([this.#received, chunk]);
    const { mark } = this.#setup;
    const begin = this.#received.indexOf(mark);
    const end = begin === -1 ? -1 : this.#received.indexOf("\n", begin);
    if (end === -1) {
      this.#received = this.#received.subarray(-noiseMaxBytes);
      return;
    }
    const text = this.#received.subarray(begin + mark.length, end).toString();
    this.#received = this.#received.subarray(end + 1);
    this.#child.stdout?.pause();
    this.#answer.resolve(text.trim());
  }

  #failure(code: number | null, signal: NodeJS.Signals | null): Error {
    const stderr = plainLine(this.#stderr);
    const ending = signal ? `ended by ${signal}` : `ended with exit code ${code}`;
    const message = `${this.#setup.label}: ${stderr || ending}`;
    return this.#setup.failure(message, stderr, code);
  }

  #end(error: Error): void {
    this.#answer.reject(error);
    this.#ended.resolve();
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.(error);
  }
}

/** One line without escape sequences. */
const plainLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.replaceAll(/\x1b\[[\d;]*m|[\x00-\x1f\x7f]/g, "").trim())
    .filter((line) => line !== "" && !/^Warning: Permanently added /.test(line))
    .map((line) => line.replace(/^(?:Error response from daemon|Error|error): /, ""))
    .slice(-stderrTailLines)
    .join("; ");
