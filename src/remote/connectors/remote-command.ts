// A command that runs a script on the far side (ssh, docker exec, kubectl exec), up to the script's first word to us.
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { Carrier, CarrierEvents } from "../../client/carriers/carrier.ts";
import { lineReader } from "../../client/carriers/lines.ts";
import { childProcesses, streams } from "../../util/lazy-modules.ts";

export interface RemoteCommandSetup {
  argv: readonly string[];
  env: Record<string, string | undefined>;
  /** Begins what the script says to us. */
  mark: string;
  /** What it means that the command has ended, by its last words. */
  failure(message: string, words: string, exitCode: number | null): Error;
  /** For people, in errors. */
  label: string;
}

/** Of what it says on standard error. */
const lastWordsChars = 600;
/** What it comes to is said last, behind banners and warnings. */
const lastLines = 4;
/** Of what start files and greetings print before the script speaks. */
const noiseMaxBytes = 1024 * 1024;
/** The far side ends with its input; where the link is dead it does not hear of it. */
const closeGraceMs = 1000;

export class RemoteShellCommand {
  readonly #child: ChildProcess;
  readonly #setup: RemoteCommandSetup;
  readonly #answer = Promise.withResolvers<string>();
  #heard = Buffer.alloc(0);
  #words = "";
  #take: ((chunk: Uint8Array) => void) | undefined;
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
    this.#answer.promise.catch(() => {}); // told to whoever asks
    child.on("error", (error) => this.#end(new Error(`${program} cannot be started: ${error.message}`)));
    child.stdin?.on("error", () => {}); // its end is told by "close"
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#words = (this.#words + chunk.toString()).slice(-lastWordsChars);
    });
    child.stdout?.on("data", (chunk: Buffer) => this.#receive(chunk));
    child.on("close", (code, signal) => this.#end(this.#failure(code, signal)));
  }

  /** What the script says, without the mark. Rejects where the command ends before, or takes too long. */
  async answer(patienceMs: number, late: () => void = () => {}): Promise<string> {
    const timer = setTimeout(() => {
      late();
      this.#end(new Error(`${this.#setup.label} did not answer within ${patienceMs / 1000} s`));
      this.#child.kill("SIGKILL");
    }, patienceMs);
    return await this.#answer.promise.finally(() => clearTimeout(timer));
  }

  /** Everything behind the answer is frames. */
  carry({ message, closed }: CarrierEvents): Carrier {
    const take = lineReader(message);
    this.#onEnd = closed;
    this.#take = take;
    // Not before whoever asked for the carrier has it.
    queueMicrotask(() => {
      take(this.#heard.subarray());
      this.#heard = Buffer.alloc(0);
      this.#child.stdout?.resume();
    });
    const { stdin } = this.#child;
    return { send: (frame) => void stdin?.write(`${frame}\n`), close: () => this.close() };
  }

  /** Gives all of it to the script; a script that has ended does not want the rest. */
  async feed(...input: [Readable, ...NodeJS.ReadWriteStream[]]): Promise<void> {
    await streams()
      .pipeline([...input, this.#child.stdin!])
      .catch(() => {});
  }

  /** Resolves when the command is gone. */
  async close(): Promise<void> {
    this.#onEnd = undefined;
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), closeGraceMs);
    this.#child.stdin?.end();
    this.#child.stdout?.resume();
    await this.#ended.promise;
    clearTimeout(timer);
  }

  #receive(chunk: Buffer): void {
    if (this.#take) {
      this.#take(chunk);
      return;
    }
    this.#heard = Buffer.concat([this.#heard, chunk]);
    const { mark } = this.#setup;
    const begin = this.#heard.indexOf(mark);
    const end = begin === -1 ? -1 : this.#heard.indexOf("\n", begin);
    if (end === -1) {
      this.#heard = this.#heard.subarray(-noiseMaxBytes);
      return;
    }
    const text = this.#heard.subarray(begin + mark.length, end).toString();
    this.#heard = this.#heard.subarray(end + 1);
    this.#child.stdout?.pause();
    this.#answer.resolve(text.trim());
  }

  #failure(code: number | null, signal: NodeJS.Signals | null): Error {
    const words = plainWords(this.#words);
    const ending = signal ? `ended by ${signal}` : `ended with exit code ${code}`;
    const message = `${this.#setup.label}: ${words || ending}`;
    return this.#setup.failure(message, words, code);
  }

  #end(error: Error): void {
    this.#answer.reject(error);
    this.#ended.resolve();
    const told = this.#onEnd;
    this.#onEnd = undefined;
    told?.(error);
  }
}

/** One line that can be shown anywhere. */
const plainWords = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.replaceAll(/\x1b\[[\d;]*m|[\x00-\x1f\x7f]/g, "").trim())
    .filter((line) => line !== "" && !/^Warning: Permanently added /.test(line))
    .map((line) => line.replace(/^(?:Error response from daemon|Error|error): /, ""))
    .slice(-lastLines)
    .join("; ");
