// A command's output as it comes, taken at the caller's pace, across lost connections: each byte once. The command
// goes on without us; it is stopped only where somebody says so.
import type { ExitFrame } from "../protocol/exec.ts";
import type { Params } from "../protocol/methods.ts";
import { fromBase64 } from "../util/base64.ts";
import { deferred } from "../util/deferred.ts";
import { type Chunk, ChunkQueue } from "./chunk-queue.ts";
import { type CommandExit, commandExit } from "./command-exit.ts";
import { ConnectionError, isTrlError, lostError, unsent } from "./errors.ts";
import type { Host } from "./host.ts";
import { InputQueue } from "./input-queue.ts";
import type { Frame, Link } from "./link.ts";
import type { Follower } from "./persistent-link.ts";
import { stopCommand } from "./stop-command.ts";
import type { StreamSetup } from "./stream-setup.ts";

/** What may be under way and wait here before the command is held back. */
const windowBytes = 1024 * 1024;

export class CommandStream<Data extends string | Uint8Array = string>
  implements AsyncIterable<Chunk<Data>>, AsyncDisposable
{
  readonly #host: Host;
  readonly #setup: StreamSetup;
  readonly #chunks: ChunkQueue<Data>;
  readonly #input: InputQueue;
  readonly #started = deferred<void>();
  readonly #exited = deferred<CommandExit>();
  readonly #follower: Follower = {
    resume: (link) => this.#resume(link),
    fail: (error) => this.#fail(this.#isSent ? error : unsent(error)),
  };
  #link: Link | undefined;
  /** Where a loop was left: what was under way then comes no more after this. */
  #left: Promise<unknown> | undefined;
  #resumes = 0;
  #isSent = false;
  #isFollowed = false;
  /** The daemon has let us go because we were slow; we come back when we want more. */
  #isLagging = false;
  #wantsOutput = false;
  #wantsExit = false;
  #isOver = false;

  constructor(host: Host, setup: StreamSetup) {
    this.#host = host;
    this.#setup = setup;
    this.#isSent = setup.isSent === true;
    const { stdout_offset = 0, stderr_offset = 0 } = setup.attach;
    const from = { stdout: stdout_offset, stderr: stderr_offset };
    this.#chunks = new ChunkQueue(from, setup.asBytes, windowBytes / 4, () => this.#acknowledge());
    this.#input = new InputQueue((data) =>
      host.call("exec.write", { stream_id: this.id, data, encoding: "base64" }),
    );
    this.#started.promise.catch(() => {}); // whoever reads or waits hears of it
    this.#exited.promise.catch(() => {});
    this.#follow();
    setup.signal?.addEventListener("abort", this.#abort, { once: true });
  }

  static follow(host: Host, id: string, attach: Partial<Params<"exec.attach">>): CommandStream {
    return new CommandStream(host, { id, start: undefined, attach, asBytes: false, signal: undefined });
  }

  /** The command's id, by which it is found again, by anybody. */
  get id(): string {
    return this.#setup.id;
  }

  /** The daemon has started it; rejects where it could not. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** How it ended, whatever the reason. As long as nobody reads the output, it is let go. */
  get exited(): Promise<CommandExit> {
    this.#wantsExit = true;
    this.#follow();
    // Whoever waits for the end and reads may say so in any order.
    queueMicrotask(() => {
      if (!this.#wantsOutput) this.#discard();
    });
    return this.#exited.promise;
  }

  /** Where `openStdin` was asked for. Resolves when it was taken, which may be when the command has read some. */
  write(data: string | Uint8Array): Promise<void> {
    return this.#input.push(data);
  }

  /** The end of its input. */
  async end(): Promise<void> {
    await this.#input.push("");
    await this.#host.call("exec.write", { stream_id: this.id, eof: true });
  }

  /** Stops the command and all that it started; or sends it a signal, and no more. */
  async cancel(signal?: string): Promise<boolean> {
    const { cancelled } = await this.#host.call("exec.cancel", {
      stream_id: this.id,
      ...(signal === undefined ? {} : { signal }),
    });
    return cancelled;
  }

  /** Leaving the loop leaves the command alone: it goes on. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Chunk<Data>, void, void> {
    this.#wantsOutput = true;
    this.#chunks.keep();
    this.#follow(); // again, where an earlier loop was left
    try {
      for (;;) {
        if (this.#chunks.isEmpty && this.#isLagging) this.#comeBack();
        const chunk = await this.#chunks.next();
        if (!chunk) return;
        yield chunk;
      }
    } finally {
      this.#wantsOutput = false;
      this.#letGo();
    }
  }

  /** A command that still runs is stopped; what it printed and nobody has read is let go. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    await this.started.catch(() => {});
    await stopCommand(this.#host, this.id);
    this.#discard();
    await this.exited.catch(() => {});
  }

  async #resume(link: Link): Promise<void> {
    const resume = ++this.#resumes;
    if (this.#left) await this.#left;
    if (!this.#isFollowed || resume !== this.#resumes) return; // left meanwhile
    this.#link = link;
    link.listen(this.id, this.#receive);
    const { start } = this.#setup;
    if (start && !this.#isSent) await this.#start(link, start);
    else await this.#attach(link);
    this.#started.resolve();
  }

  async #start(link: Link, start: Partial<Params<"exec.stream">>): Promise<void> {
    this.#isSent = true;
    const params = { ...start, command_id: this.id, encoding: "base64", window_bytes: windowBytes };
    await link.request("exec.stream", params).catch((error: unknown) => {
      if (error instanceof ConnectionError && !error.mayHaveRun) this.#isSent = false;
      throw error;
    });
  }

  async #attach(link: Link): Promise<void> {
    const { stdout, stderr } = this.#chunks.received;
    const params = {
      ...this.#setup.attach,
      stream_id: this.id,
      stdout_offset: stdout,
      stderr_offset: stderr,
      encoding: "base64",
      window_bytes: windowBytes,
    };
    this.#isLagging = false;
    await link.request("exec.attach", params).catch((error: unknown) => {
      if (!this.#setup.start || !isTrlError(error, "STREAM_NOT_FOUND")) throw error;
      const message = "the connection was lost, and the daemon does not know the command (any more)";
      throw new ConnectionError(message, true, { cause: error });
    });
  }

  readonly #receive = (frame: Frame): void => {
    if (frame.type === "stdout" || frame.type === "stderr") {
      const bytes = fromBase64(frame["data"] as string);
      this.#chunks.push(frame.type, bytes, frame["offset"] as number);
    } else if (frame.type === "lagged") {
      this.#isLagging = true;
      if (this.#chunks.isWanted) this.#comeBack();
    } else if (frame.type === "exit") {
      const exit = frame as unknown as ExitFrame;
      const { signal } = this.#setup;
      if (exit.error) this.#fail(lostError(exit.error));
      else if (signal?.aborted) this.#fail(signal.reason);
      else this.#finish(exit);
    }
  };

  #finish(exit: ExitFrame): void {
    this.#chunks.skipTo({ stdout: exit.stdout_bytes, stderr: exit.stderr_bytes });
    this.#chunks.end();
    this.#exited.resolve(commandExit(exit));
    this.#end();
  }

  #fail(error: Error): void {
    this.#started.reject(error);
    this.#exited.reject(error);
    this.#chunks.end(error);
    this.#end();
  }

  #comeBack(): void {
    this.#isFollowed = false;
    this.#follow();
  }

  #follow(): void {
    if (this.#isFollowed || this.#isOver) return;
    this.#isFollowed = true;
    void this.#host.follow(this.#follower);
  }

  /** Nobody reads any more; where somebody waits for the end, the rest is dropped as it comes. */
  #letGo(): void {
    if (this.#isOver) return;
    if (this.#wantsExit) this.#discard();
    else {
      this.#leave();
      this.#chunks.forget(); // who reads on gets them again
      this.#left = this.#link?.request("exec.detach", { stream_id: this.id }).catch(() => {});
    }
  }

  #discard(): void {
    if (this.#isOver) return;
    this.#chunks.discard();
    if (this.#isLagging) this.#comeBack();
  }

  #leave(): void {
    this.#isFollowed = false;
    this.#host.unfollow(this.#follower);
    this.#link?.unlisten(this.id, this.#receive);
  }

  #end(): void {
    this.#isOver = true;
    this.#setup.signal?.removeEventListener("abort", this.#abort);
    this.#leave();
  }

  readonly #abort = () =>
    this.#isSent ? void stopCommand(this.#host, this.id) : this.#fail(this.#setup.signal!.reason);

  #acknowledge(): void {
    const { stdout, stderr } = this.#chunks.taken;
    const params = { stream_id: this.id, stdout_offset: stdout, stderr_offset: stderr };
    void this.#link?.request("exec.ack", params).catch(() => {});
  }
}
