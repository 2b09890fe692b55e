// What a terminal shows, for all who watch it through this client: one subscription, taken up again by offset when the
// connection was lost. What is not taken yet is not sent on: a slow emulator is not drowned.
import type { LostError } from "../protocol/exec.ts";
import type { Result } from "../protocol/methods.ts";
import { fromBase64 } from "../util/base64.ts";
import { told } from "./callbacks.ts";
import { ConnectionError, isTrlError, lostError } from "./errors.ts";
import type { Host } from "./host.ts";
import type { Frame, Link } from "./link.ts";
import type { Follower } from "./persistent-link.ts";

export interface OutputInfo {
  /** Of the first byte; of the next live one where it is a redraw. */
  offset: number;
  /** It draws the whole screen, and is no part of the output: clear what is shown before it. */
  isRedraw: boolean;
  /** Bytes before it that were left out because we were too slow; a redraw follows. */
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
  /** A promise says when it has been dealt with; no more than a window's worth comes before. */
  output?(bytes: Uint8Array, info: OutputInfo): unknown;
  resize?(size: { cols: number; rows: number }): void;
  /** The last thing that is told, after the last output. */
  exit?(exit: TerminalExit): void;
  /** It is not watched any more: it is gone, or the daemon cannot be reached. */
  error?(error: Error): void;
}

export interface WatchOptions {
  /** All from this offset on, where it is still kept. */
  from?: number;
  /** A redraw of the screen first (the default), or only what comes. */
  replay?: "screen" | "none";
  /** Lines above the screen to be drawn with it. */
  scrollback?: number;
}

/** Output that some have not dealt with yet. */
interface Piece {
  end: number;
  by: Set<TerminalWatcher>;
}

/** As VS Code does it: enough to keep an emulator busy, little enough that ^C is felt at once. */
const windowBytes = 128 * 1024;

export class TerminalFeed implements Follower {
  /** What this client's window is, once it has said so. */
  size: { cols: number; rows: number } | undefined;
  readonly #watchers = new Set<TerminalWatcher>();
  readonly #underWay = new Set<Piece>();
  #link: Link | undefined;
  /** Where all had left: what was under way then comes no more after this. */
  #left: Promise<unknown> | undefined;
  #resumes = 0;
  /** What was asked for and has not been had yet. */
  #wanted: WatchOptions | undefined;
  /** The next live byte; undefined before anything came. */
  #offset: number | undefined;
  #taken = 0;
  #acknowledged = 0;
  #missing = 0;

  constructor(
    readonly host: Host,
    readonly id: string,
    /** Nobody watches, and nothing is under way. */
    readonly onIdle: () => void,
  ) {}

  /** Gives a function that ends it. */
  watch(watcher: TerminalWatcher, options: WatchOptions): () => void {
    const isFirst = this.#watchers.size === 0;
    if (!isFirst && options.from !== undefined)
      throw new TypeError("from: this client watches the terminal already");
    this.#watchers.add(watcher);
    if (isFirst) {
      this.#wanted = options;
      this.#offset = undefined;
      void this.host.follow(this);
    } else if (options.replay !== "none") {
      this.#wanted = options; // all get it, and all can deal with it
      if (this.#link) void this.#redraw(this.#link, options);
    }
    return () => this.#unwatch(watcher);
  }

  tellSize({ cols, rows }: { cols: number; rows: number }): void {
    for (const watcher of this.#watchers) told(() => watcher.resize?.({ cols, rows }));
  }

  async resume(link: Link): Promise<void> {
    const resume = ++this.#resumes;
    if (this.#left) await this.#left;
    if (this.#watchers.size === 0 || resume !== this.#resumes) return; // left meanwhile
    this.#link = link;
    link.listen(this.id, this.#receive);
    if (this.size) void link.request("pty.resize", { session_id: this.id, ...this.size }).catch(() => {});
    if (this.#wanted) return this.#subscribe(link, this.#wanted);
    await this.#subscribe(link, { from: this.#offset! }).catch((error: unknown) => {
      // Another terminal has its name by now, and has not printed as much.
      if (!isTrlError(error, "INVALID_PARAMS")) throw error;
      return this.#subscribe(link, {});
    });
  }

  fail(error: Error): void {
    this.#leave();
    this.onIdle();
    for (const watcher of this.#clear()) told(() => watcher.error?.(error));
  }

  async #subscribe(link: Link, options: WatchOptions): Promise<void> {
    const { from, replay, scrollback } = options;
    const where = from === undefined ? { replay: replay ?? "screen" } : { from };
    const params = { session_id: this.id, ...where, scrollback: scrollback ?? 0, window_bytes: windowBytes };
    await link.request("pty.subscribe", params, {
      received: (data) => {
        const { offset, cols, rows } = data as Result<"pty.subscribe">;
        if (this.#wanted === options) this.#wanted = undefined;
        if (this.#offset === undefined) this.#startAt(offset);
        this.tellSize({ cols, rows });
      },
    });
  }

  /** For one who comes later. */
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
      this.tellSize({ cols, rows });
    } else if (frame.type === "exit") {
      const { exit_code, signal, error } = frame as unknown as Ended;
      if (error) this.fail(lostError(error));
      this.#leave();
      this.onIdle();
      for (const watcher of this.#clear()) told(() => watcher.exit?.({ exitCode: exit_code, signal }));
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
    const piece: Piece = { end, by: new Set() };
    for (const it of [...this.#watchers]) {
      const dealtWith = told(() => it.output?.(bytes, info));
      if (!dealtWith || !this.#watchers.has(it)) continue;
      piece.by.add(it);
      void dealtWith.then(() => this.#dealtWith(piece, it));
    }
    if (piece.by.size > 0) this.#underWay.add(piece);
    else this.#took(end);
  }

  #dealtWith(piece: Piece, watcher: TerminalWatcher): void {
    if (!piece.by.delete(watcher) || piece.by.size > 0) return;
    this.#underWay.delete(piece);
    this.#took(piece.end);
  }

  #startAt(offset: number): void {
    this.#offset = this.#taken = this.#acknowledged = offset;
  }

  #took(end: number): void {
    this.#taken = Math.max(this.#taken, end);
    if (this.#taken - this.#acknowledged < windowBytes / 4) return;
    this.#acknowledged = this.#taken;
    void this.#link?.request("pty.ack", { session_id: this.id, offset: this.#taken }).catch(() => {});
  }

  #unwatch(watcher: TerminalWatcher): void {
    if (!this.#watchers.delete(watcher)) return;
    for (const piece of [...this.#underWay]) this.#dealtWith(piece, watcher); // it may never say so any more
    if (this.#watchers.size > 0) return;
    const link = this.#link;
    this.#leave();
    this.#left = link?.request("pty.unsubscribe", { session_id: this.id }).catch(() => {});
    void Promise.resolve(this.#left).then(() => this.#watchers.size === 0 && this.onIdle());
  }

  #clear(): TerminalWatcher[] {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    this.#underWay.clear();
    return watchers;
  }

  #leave(): void {
    this.host.unfollow(this);
    this.#link?.unlisten(this.id, this.#receive);
    this.#link = undefined;
  }
}
