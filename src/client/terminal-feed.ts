// A terminal's output for all watchers in this client: one subscription, resumed by offset after a lost connection. It
// acknowledges only what all watchers have processed, so a slow emulator causes backpressure instead of a long queue.
import type { LostError } from "../protocol/exec.ts";
import type { Result } from "../protocol/methods.ts";
import { fromBase64 } from "../util/base64.ts";
import { notify } from "./callbacks.ts";
import { ConnectionError, isTrlError, lostError } from "./errors.ts";
import type { Host } from "./host.ts";
import type { Frame, Link } from "./link.ts";
import type { Subscription } from "./persistent-link.ts";

export interface OutputInfo {
  /** Offset of the first byte; in a redraw, of the next live byte. */
  offset: number;
  /** The bytes draw the whole screen and are not part of the output: clear the screen before them. */
  isRedraw: boolean;
  /** Bytes before it that were skipped because the client was too slow; a redraw follows. */
  missing: number;
}

export interface TerminalExit {
  exitCode: number;
  signal: string | null;
}

interface Ended {
  exit_code: number;
  signal: string | null;
  error?: LostError;
}

export interface TerminalWatcher {
  /** May return a promise that resolves when the bytes are processed; until then at most a window arrives. */
  output?(bytes: Uint8Array, info: OutputInfo): unknown;
  resize?(size: { cols: number; rows: number }): void;
  /** The last call, after the last output. */
  exit?(exit: TerminalExit): void;
  /** Watching has ended: the terminal is gone, or the daemon cannot be reached. */
  error?(error: Error): void;
}

export interface WatchOptions {
  /** All output from this offset on, as far as the daemon still has it. */
  from?: number;
  /** A redraw of the screen first (the default), or only new output. */
  replay?: "screen" | "none";
  /** Lines of scrollback to draw above the screen. */
  scrollback?: number;
}

/** Output that some watchers have not processed yet. */
interface Piece {
  end: number;
  watchers: Set<TerminalWatcher>;
}

/** As in VS Code: enough to keep an emulator busy, and little enough that ^C takes effect at once. */
const windowBytes = 128 * 1024;

export class TerminalFeed implements Subscription {
  /** Size of this client's window, if it has sent one. */
  size: { cols: number; rows: number } | undefined;
  readonly #watchers = new Set<TerminalWatcher>();
  readonly #unprocessed = new Set<Piece>();
  #link: Link | undefined;
  /** The pending unsubscribe request: frames of the old subscription may arrive until it settles. */
  #unsubscribing: Promise<unknown> | undefined;
  #resumes = 0;
  /** The requested replay, until the daemon has replied. */
  #pendingOptions: WatchOptions | undefined;
  /** The next live byte; undefined before the first reply. */
  #offset: number | undefined;
  #processed = 0;
  #acknowledged = 0;
  #missing = 0;

  constructor(
    readonly host: Host,
    readonly id: string,
    /** Called when the last watcher has left and the daemon has ended the subscription. */
    readonly onIdle: () => void,
  ) {}

  /** Returns a function that ends it. */
  watch(watcher: TerminalWatcher, options: WatchOptions): () => void {
    const isFirst = this.#watchers.size === 0;
    if (!isFirst && options.from !== undefined)
      throw new TypeError("from: this client watches the terminal already");
    this.#watchers.add(watcher);
    if (isFirst) {
      this.#pendingOptions = options;
      this.#offset = undefined;
      void this.host.subscribe(this);
    } else if (options.replay !== "none") {
      this.#pendingOptions = options; // all watchers get the redraw
      if (this.#link) void this.#redraw(this.#link, options);
    }
    return () => this.#unwatch(watcher);
  }

  notifySize({ cols, rows }: { cols: number; rows: number }): void {
    for (const watcher of this.#watchers) notify(() => watcher.resize?.({ cols, rows }));
  }

  async resume(link: Link): Promise<void> {
    const resume = ++this.#resumes;
    if (this.#unsubscribing) await this.#unsubscribing;
    // No watcher is left, or a later call has taken over.
    if (this.#watchers.size === 0 || resume !== this.#resumes) return;
    this.#link = link;
    link.listenAlone(this.id, this.#receive);
    if (this.size) void link.request("pty.resize", { session_id: this.id, ...this.size }).catch(() => {});
    if (this.#pendingOptions) return this.#subscribe(link, this.#pendingOptions);
    await this.#subscribe(link, { from: this.#offset! }).catch((error: unknown) => {
      // The id belongs to a new terminal by now, and its output does not reach this offset.
      if (!isTrlError(error, "INVALID_PARAMS")) throw error;
      return this.#subscribe(link, {});
    });
  }

  fail(error: Error): void {
    this.#detach();
    this.onIdle();
    for (const watcher of this.#clear()) notify(() => watcher.error?.(error));
  }

  async #subscribe(link: Link, options: WatchOptions): Promise<void> {
    const { from, replay, scrollback } = options;
    const where = from === undefined ? { replay: replay ?? "screen" } : { from };
    const params = { session_id: this.id, ...where, scrollback: scrollback ?? 0, window_bytes: windowBytes };
    await link.request("pty.subscribe", params, {
      received: (data) => {
        const { offset, cols, rows } = data as Result<"pty.subscribe">;
        if (this.#pendingOptions === options) this.#pendingOptions = undefined;
        if (this.#offset === undefined) this.#startAt(offset);
        this.notifySize({ cols, rows });
      },
    });
  }

  /** For a watcher that joins later. */
  async #redraw(link: Link, options: WatchOptions): Promise<void> {
    try {
      await this.#subscribe(link, options);
    } catch (error) {
      if (!(error instanceof ConnectionError)) this.fail(error as Error);
    }
  }

  readonly #receive = (frame: Frame): void => {
    if (frame.type === "output") this.#takeOutput(frame);
    else if (frame.type === "gap") this.#missing = (frame["to"] as number) - (frame["from"] as number);
    else if (frame.type === "resize") {
      const { cols, rows } = frame as unknown as { cols: number; rows: number };
      this.notifySize({ cols, rows });
    } else if (frame.type === "exit") {
      const { exit_code, signal, error } = frame as unknown as Ended;
      if (error) this.fail(lostError(error));
      this.#detach();
      this.onIdle();
      for (const watcher of this.#clear()) notify(() => watcher.exit?.({ exitCode: exit_code, signal }));
    }
  };

  #takeOutput(frame: Frame): void {
    const bytes = fromBase64(frame["data"] as string);
    const offset = frame["offset"] as number;
    const isRedraw = frame["redraw"] === true;
    const end = isRedraw ? offset : offset + bytes.length;
    if (isRedraw) this.#startAt(offset);
    this.#offset = end;
    const info = { offset, isRedraw, missing: this.#missing };
    this.#missing = 0;
    const piece: Piece = { end, watchers: new Set() };
    for (const it of [...this.#watchers]) {
      const processed = notify(() => it.output?.(bytes, info));
      if (!processed || !this.#watchers.has(it)) continue;
      piece.watchers.add(it);
      void processed.then(() => this.#finishPiece(piece, it));
    }
    if (piece.watchers.size > 0) this.#unprocessed.add(piece);
    else this.#acknowledgeTo(end);
  }

  #finishPiece(piece: Piece, watcher: TerminalWatcher): void {
    if (!piece.watchers.delete(watcher) || piece.watchers.size > 0) return;
    this.#unprocessed.delete(piece);
    this.#acknowledgeTo(piece.end);
  }

  #startAt(offset: number): void {
    this.#offset = this.#processed = this.#acknowledged = offset;
  }

  #acknowledgeTo(end: number): void {
    this.#processed = Math.max(this.#processed, end);
    if (this.#processed - this.#acknowledged < windowBytes / 4) return;
    this.#acknowledged = this.#processed;
    void this.#link?.request("pty.ack", { session_id: this.id, offset: this.#processed }).catch(() => {});
  }

  #unwatch(watcher: TerminalWatcher): void {
    if (!this.#watchers.delete(watcher)) return;
    for (const piece of [...this.#unprocessed]) this.#finishPiece(piece, watcher); // its promise may never resolve
    if (this.#watchers.size > 0) return;
    const link = this.#link;
    this.#detach();
    this.#unsubscribing = link?.request("pty.unsubscribe", { session_id: this.id }).catch(() => {});
    void Promise.resolve(this.#unsubscribing).then(() => this.#watchers.size === 0 && this.onIdle());
  }

  #clear(): TerminalWatcher[] {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    this.#unprocessed.clear();
    return watchers;
  }

  #detach(): void {
    this.host.unsubscribe(this);
    this.#link?.unlisten(this.id, this.#receive);
    this.#link = undefined;
  }
}
