// Handle of a terminal.
import { TrlError } from "../protocol/errors.ts";
import { lostReason } from "../protocol/exec.ts";
import type { Snapshot, TerminalSummary, Until, WaitOutcome } from "../protocol/pty.ts";
import { isTrlError } from "./errors.ts";
import type { Host } from "./host.ts";
import { InputQueue } from "./input-queue.ts";
import { type Camelized, camelized, type Options, wireParams } from "./naming.ts";
import type { OutputInfo, TerminalExit, TerminalWatcher, WatchOptions } from "./terminal-feed.ts";
import type { TerminalFeeds } from "./terminal-feeds.ts";

export interface TerminalOptions extends Options<"pty.create"> {
  /** Use the running terminal with this id or name if there is one. */
  reuse?: boolean;
}

export interface Waited {
  /** The condition that was met; `timeout` if none was, `exit` if the program ended first. */
  matched: WaitOutcome;
  screen: Camelized<Snapshot>;
}

export class Terminal implements AsyncDisposable {
  readonly id: string;
  readonly name: string | null;
  readonly pid: number;
  readonly #host: Host;
  readonly #feeds: TerminalFeeds;
  readonly #input: InputQueue;
  readonly #isOwned: boolean;
  readonly #stops = new Set<() => void>();
  #size: { cols: number; rows: number } | undefined;
  #exited: Promise<TerminalExit> | undefined;

  constructor(
    host: Host,
    { session_id, name, pid }: TerminalSummary,
    feeds: TerminalFeeds,
    isOwned: boolean,
  ) {
    this.#host = host;
    this.#feeds = feeds;
    this.#isOwned = isOwned;
    this.id = session_id;
    this.name = name;
    this.pid = pid;
    this.#input = new InputQueue((data) => host.call("pty.write", { session_id, data, encoding: "base64" }));
  }

  /** Live output, after a redraw of the screen. Returns a function that ends it. */
  onOutput(
    listener: (bytes: Uint8Array, info: OutputInfo) => unknown,
    options: WatchOptions = {},
  ): () => void {
    return this.watch({ output: listener }, options);
  }

  /** Output, sizes, the exit, and errors. While a watcher is attached, it answers the program's terminal queries. */
  watch(watcher: TerminalWatcher, options: WatchOptions = {}): () => void {
    const end = this.#feeds.watch(this.id, watcher, options, this.#size);
    const stop = () => {
      this.#stops.delete(stop);
      end();
    };
    this.#stops.add(stop);
    return stop;
  }

  /** Types, in order. Input that the program has not read yet waits in a queue here. */
  write(data: string | Uint8Array): Promise<void> {
    return this.#input.push(data);
  }

  /** Reports the size of this client's window. Resolves to false if another client, which typed last, decides it. */
  async resize(cols: number, rows: number): Promise<boolean> {
    this.#size = { cols, rows };
    this.#feeds.setSize(this.id, this.#size);
    const { applied, ...actual } = await this.#host.call("pty.resize", { session_id: this.id, cols, rows });
    if (!applied) this.#feeds.notifySize(this.id, actual); // the window has another size by now
    return applied;
  }

  async snapshot(options: Options<"pty.snapshot", "session_id"> = {}): Promise<Camelized<Snapshot>> {
    const params = { ...wireParams("pty.snapshot", options), session_id: this.id };
    return camelized(await this.#host.call("pty.snapshot", params));
  }

  /** The screen's text. */
  async screen(): Promise<string> {
    return (await this.snapshot()).lines!.join("\n").trimEnd();
  }

  /** Waits for a text or pattern on the screen, for silence, or for the exit. A timeout is a result, not an error. */
  async wait(
    until: Camelized<Until>,
    { timeoutS, signal }: { timeoutS?: number; signal?: AbortSignal } = {},
  ): Promise<Waited> {
    const params = { ...wireParams("pty.wait", { until, timeoutS }), session_id: this.id };
    return camelized(await this.#host.call("pty.wait", params, signal ? { signal } : {})) as Waited;
  }

  async info(): Promise<Camelized<TerminalSummary>> {
    return camelized(await this.#summary());
  }

  /** How the program ended. */
  get exited(): Promise<TerminalExit> {
    this.#exited ??= this.#untilExit();
    this.#exited.catch(() => {});
    return this.#exited;
  }

  /** Ends the program and all processes that it started. */
  async close(): Promise<TerminalExit> {
    const { exit_code, signal } = await this.#host.call("pty.close", { session_id: this.id });
    return { exitCode: exit_code ?? 0, signal };
  }

  /** Closes the terminal if this handle created it; otherwise only stops watching. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) stop();
    if (!this.#isOwned) return;
    await this.close().catch((error: unknown) => {
      if (!isTrlError(error, "SESSION_NOT_FOUND", "RUNTIME_UNAVAILABLE")) throw error;
    });
  }

  async #untilExit(): Promise<TerminalExit> {
    await this.#host.call("pty.wait", { session_id: this.id, until: { exit: true }, timeout_s: 0 });
    const { exit_code, signal, reason } = await this.#summary();
    if (reason === lostReason)
      throw new TrlError("RUNTIME_UNAVAILABLE", "lost: the daemon was killed while the terminal ran");
    return { exitCode: exit_code!, signal };
  }

  async #summary(): Promise<TerminalSummary> {
    const { sessions } = await this.#host.call("pty.list", {});
    const found = sessions.find(({ session_id }) => session_id === this.id);
    if (!found) throw new TrlError("SESSION_NOT_FOUND", `there is no terminal ${this.id}, or no longer`);
    return found;
  }
}
