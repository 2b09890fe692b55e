// Live output of a command, read at the caller's pace and resumed after a lost connection: each byte arrives once. The
// command does not depend on the stream; only `cancel`, the abort signal and disposing stop it.
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
import type { Subscription } from "./persistent-link.ts";
import { stopCommand } from "./stop-command.ts";

/** Unread output before backpressure stops the command. */
const windowBytes = 1024 * 1024;

export interface StreamSetup {
  id: string;
  /** Undefined if the command was started before. */
  start: Partial<Params<"exec.stream">> | undefined;
  /** A request that got no reply may have started the command. */
  isSent?: boolean;
  attach: Partial<Params<"exec.attach">>;
  asBytes: boolean;
  signal: AbortSignal | undefined;
}

export class CommandStream<Data extends string | Uint8Array = string>
  implements AsyncIterable<Chunk<Data>>, AsyncDisposable
{
  readonly #host: Host;
  readonly #setup: StreamSetup;
  readonly #chunks: ChunkQueue<Data>;
  readonly #input: InputQueue;
  readonly #started = deferred<void>();
  readonly #exited = deferred<CommandExit>();
  readonly #subscription: Subscription = {
    resume: (link) => this.#resume(link),
    fail: (error) => this.#fail(this.#isSent ? error : unsent(error)),
  };
  #link: Link | undefined;
  /** The pending detach request: frames of the old attachment may arrive until it settles. */
  #detaching: Promise<unknown> | undefined;
  #resumes = 0;
  #isSent = false;
  #isAttached = false;
  /** The daemon has detached this slow reader; the stream attaches again when the queue is empty. */
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
    this.#started.promise.catch(() => {}); // reading and `exited` report it
    this.#exited.promise.catch(() => {});
    this.#ensureAttached();
    setup.signal?.addEventListener("abort", this.#abort, { once: true });
  }

  static follow(host: Host, id: string, attach: Partial<Params<"exec.attach">>): CommandStream {
    return new CommandStream(host, { id, start: undefined, attach, asBytes: false, signal: undefined });
  }

  /** The command's id, by which any client can attach to it. */
  get id(): string {
    return this.#setup.id;
  }

  /** Resolves when the daemon has started the command; rejects if it could not. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** How the command ended, for any reason. Output that is not being read is discarded. */
  get exited(): Promise<CommandExit> {
    this.#wantsExit = true;
    this.#ensureAttached();
    // The caller may start to read after this, in the same turn.
    queueMicrotask(() => {
      if (!this.#wantsOutput) this.#discard();
    });
    return this.#exited.promise;
  }

  /** Needs `openStdin`. Resolves when the daemon has the data, which may take until the command reads. */
  write(data: string | Uint8Array): Promise<void> {
    return this.#input.push(data);
  }

  /** Closes the command's standard input. */
  async end(): Promise<void> {
    await this.#input.push("");
    await this.#host.call("exec.write", { stream_id: this.id, eof: true });
  }

  /** Stops the command and all processes that it started, or only sends it a signal. */
  async cancel(signal?: string): Promise<boolean> {
    const { cancelled } = await this.#host.call("exec.cancel", {
      stream_id: this.id,
      ...(signal === undefined ? {} : { signal }),
    });
    return cancelled;
  }

  /** Leaving the loop does not stop the command. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Chunk<Data>, void, void> {
    this.#wantsOutput = true;
    this.#chunks.keep();
    this.#ensureAttached(); // again, if an earlier loop was left
    try {
      for (;;) {
        if (this.#chunks.isEmpty && this.#isLagging) this.#reattach();
        const chunk = await this.#chunks.next();
        if (!chunk) return;
        yield chunk;
      }
    } finally {
      this.#wantsOutput = false;
      this.#stopReading();
    }
  }

  /** Stops the command if it still runs, and discards unread output. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    await this.started.catch(() => {});
    await stopCommand(this.#host, this.id);
    this.#discard();
    await this.exited.catch(() => {});
  }

  async #resume(link: Link): Promise<void> {
    const resume = ++this.#resumes;
    if (this.#detaching) await this.#detaching;
    if (!this.#isAttached || resume !== this.#resumes) return; // detached, or a later call has taken over
    this.#link = link;
    link.listenAlone(this.id, this.#receive);
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
      const message = "the connection was lost, and the daemon does not know the command, or no longer";
      throw new ConnectionError(message, true, { cause: error });
    });
  }

  readonly #receive = (frame: Frame): void => {
    if (frame.type === "stdout" || frame.type === "stderr") {
      const bytes = fromBase64(frame["data"] as string);
      this.#chunks.push(frame.type, bytes, frame["offset"] as number);
    } else if (frame.type === "lagged") {
      this.#isLagging = true;
      if (this.#chunks.isWanted) this.#reattach();
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

  #reattach(): void {
    this.#isAttached = false;
    this.#ensureAttached();
  }

  #ensureAttached(): void {
    if (this.#isAttached || this.#isOver) return;
    this.#isAttached = true;
    void this.#host.subscribe(this.#subscription);
  }

  /** The loop was left. If the caller awaits the exit, the rest is discarded as it arrives; otherwise detach. */
  #stopReading(): void {
    if (this.#isOver) return;
    if (this.#wantsExit) this.#discard();
    else {
      this.#detach();
      this.#chunks.forget(); // a later loop gets them again
      this.#detaching = this.#link?.request("exec.detach", { stream_id: this.id }).catch(() => {});
    }
  }

  #discard(): void {
    if (this.#isOver) return;
    this.#chunks.discard();
    if (this.#isLagging) this.#reattach();
  }

  #detach(): void {
    this.#isAttached = false;
    this.#host.unsubscribe(this.#subscription);
    this.#link?.unlisten(this.id, this.#receive);
  }

  #end(): void {
    this.#isOver = true;
    this.#setup.signal?.removeEventListener("abort", this.#abort);
    this.#detach();
  }

  readonly #abort = () =>
    this.#isSent ? void stopCommand(this.#host, this.id) : this.#fail(this.#setup.signal!.reason);

  #acknowledge(): void {
    const { stdout, stderr } = this.#chunks.taken;
    const params = { stream_id: this.id, stdout_offset: stdout, stderr_offset: stderr };
    void this.#link?.request("exec.ack", params).catch(() => {});
  }
}
