// A shell in which the commands of a page are typed one after the other, as a reader would.
import { readFile } from "node:fs/promises";
import { until } from "./wait.ts";

const endMark = "\u0001end\u0001";

export interface PageShellSetup {
  dir: string;
  env: Record<string, string>;
}

export class PageShell implements AsyncDisposable {
  readonly #dir: string;
  readonly #home: string;
  readonly #shell: Bun.Subprocess<"pipe", "pipe", "pipe">;
  #printed = "";
  #jobs = 0;

  constructor({ dir, env }: PageShellSetup) {
    this.#dir = dir;
    this.#home = env["HOME"] ?? dir;
    this.#shell = Bun.spawn(["bash", "--norc", "--noprofile"], {
      cwd: dir,
      env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#shell.stdin.write("set -m\n"); // each job is a group, which ends as a whole
    void this.#read(this.#shell.stdout);
    void this.#read(this.#shell.stderr);
  }

  /** What the command printed. What it leaves in the background prints elsewhere; a daemon there is waited for. */
  async run(command: string): Promise<string> {
    if (!isInBackground(command)) return await this.#type(`eval ${quoted(command)} </dev/null 2>&1`);
    const line = command.slice(0, command.lastIndexOf("&"));
    const ownLog = `${this.#dir}/background-${++this.#jobs}.log`;
    const log = / 2>(\S+)/.exec(line)?.[1]?.replace(/^~/, this.#home) ?? ownLog;
    await this.#type(`eval ${quoted(line)} </dev/null >${quoted(ownLog)} 2>&1 &`);
    if (!isDaemon(line)) return "";
    await until("the daemon in the background", async () =>
      /\bready\b/.test(await readFile(log, "utf8").catch(() => "")),
    );
    return "";
  }

  /** For a command that the reader ends by ^C, as soon as it has printed what is told. */
  async runUntil(command: string, isEnough: (printed: string) => boolean): Promise<string> {
    const file = `${this.#dir}/interrupted`;
    await this.#type(`eval ${quoted(command)} </dev/null >${quoted(file)} 2>&1 &`);
    const read = () => readFile(file, "utf8").catch(() => ""); // the job may not have come that far
    await until("enough output", async () => isEnough(await read()));
    await this.#type('kill -INT -- -"$!"; wait "$!" 2>/dev/null');
    return await read();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#shell.stdin.write("for job in $(jobs -p); do kill -- -$job; done 2>/dev/null; wait; exit\n");
    this.#shell.stdin.end();
    const limit = setTimeout(() => this.#shell.kill("SIGKILL"), 10_000); // a command that hangs holds the shell
    await this.#shell.exited;
    clearTimeout(limit);
  }

  async #type(line: string): Promise<string> {
    this.#printed = "";
    this.#shell.stdin.write(`${line}\nprintf '%s' ${quoted(endMark)}\n`);
    this.#shell.stdin.flush();
    await until(`the end of ${line}`, () => this.#printed.includes(endMark));
    return this.#printed.slice(0, this.#printed.indexOf(endMark));
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) this.#printed += decoder.decode(chunk, { stream: true });
  }
}

export const isInBackground = (command: string) => /[^&]&\s*$/.test(command);
export const isDaemon = (command: string) => /\btrl serve\b/.test(command);

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
