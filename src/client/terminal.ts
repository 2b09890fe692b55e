// A terminal, as its user sees it.
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
  /** Take the running terminal of this id or name where there is one. */
  reuse?: boolean;
}

export interface Waited {
  /** What it was; `timeout` where nothing of it came, `exit` where the program ended first. */
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
  readonly #isOurs: boolean;
  readonly #watches = new Set<() => void>();
  #size: { cols: number; rows: number } | undefined;
  #exited: Promise<TerminalExit> | undefined;

  constructor(host: Host, { session_id, name, pid }: TerminalSummary, feeds: TerminalFeeds, isOurs: boolean) {
    this.#host = host;
    this.#feeds = feeds;
    this.#isOurs = isOurs;
    this.id = session_id;
    this.name = name;
    this.pid = pid;
    this.#input = new InputQueue((data) => host.call("pty.write", { session_id, data, encoding: "base64" }));
  }

  /** Output as it comes, after a redraw of the screen. Gives a function that ends it. */
  onOutput(
    listener: (bytes: Uint8Array, info: OutputInfo) => unknown,
    options: WatchOptions = {},
  ): () => void {
    return this.watch({ output: listener }, options);
  }

  /** Output, sizes, the end, and what goes wrong. While somebody watches, the answers to the program are theirs. */
  watch(watcher: TerminalWatcher, options: WatchOptions = {}): () => void {
    const end = this.#feeds.watch(this.id, watcher, options, this.#size);
    const stop = () => {
      this.#watches.delete(stop);
      end();
    };
    this.#watches.add(stop);
    return stop;
  }

  /** Types. In order, and at the pace at which the program reads: what waits is kept here. */
  write(data: string | Uint8Array): Promise<void> {
    return this.#input.push(data);
  }

  /** Says how large the window is here. False where another client, that typed last, decides. */
  async resize(cols: number, rows: number): Promise<boolean> {
    this.#size = { cols, rows };
    this.#feeds.resized(this.id, this.#size);
    const { applied, ...holds } = await this.#host.call("pty.resize", { session_id: this.id, cols, rows });
    if (!applied) this.#feeds.tellSize(this.id, holds); // who has resized a window by now is to know
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

  /** For a text or a pattern on the screen, for silence, for the end. That none of it came is no error. */
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

  /** How its program ended. */
  get exited(): Promise<TerminalExit> {
    this.#exited ??= this.#untilExit();
    this.#exited.catch(() => {});
    return this.#exited;
  }

  /** Ends the program and all that it started. */
  async close(): Promise<TerminalExit> {
    const { exit_code, signal } = await this.#host.call("pty.close", { session_id: this.id });
    return { exitCode: exit_code ?? 0, signal };
  }

  /** What was made here is closed; what was found is let go. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#watches) stop();
    if (!this.#isOurs) return;
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
    if (!found) throw new TrlError("SESSION_NOT_FOUND", `there is no terminal ${this.id} (any more)`);
    return found;
  }
}
