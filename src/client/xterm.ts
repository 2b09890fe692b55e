// Connects a terminal of trl to xterm.js: output, keys, sizes and flow control, until it is disposed.
import { isTrlError } from "./errors.ts";
import type { Terminal } from "./terminal.ts";
import type { TerminalExit } from "./terminal-feed.ts";

/** The part of xterm.js's `Terminal` that is used here; every version has it. */
export interface XtermLike {
  readonly cols: number;
  readonly rows: number;
  write(data: string | Uint8Array, done?: () => void): void;
  resize(cols: number, rows: number): void;
  onData(listener: (data: string) => void): { dispose(): void };
  onBinary(listener: (data: string) => void): { dispose(): void };
  onResize(listener: (size: { cols: number; rows: number }) => void): { dispose(): void };
}

export interface XtermOptions {
  /** Lines of scrollback in the first redraw (1000). */
  scrollback?: number;
  /** The program has ended. Its last screen stays, and keys have no effect. */
  onExit?(exit: TerminalExit): void;
  /**
   * Typed input did not arrive; or, with `isOver`, the terminal is gone or the daemon cannot be reached. The screen
   * stays.
   */
  onError?(error: Error, info: { isOver: boolean }): void;
}

/** Resets modes, screen and scrollback. */
const fullReset = "\x1bc";

/** Disposing of it changes neither terminal. */
export function attachXterm(terminal: Terminal, xterm: XtermLike, options: XtermOptions = {}): Disposable {
  const { scrollback = 1000, onExit, onError = () => {} } = options;
  const failed = (error: Error) => onError(error, { isOver: false });
  const type = (data: string | Uint8Array) => void terminal.write(data).catch(failed);
  let isFollowing = false;
  const sendSize = ({ cols, rows }: { cols: number; rows: number }) => {
    if (isFollowing) return;
    void terminal.resize(cols, rows).catch((error: Error) => {
      // The watcher reports the end, and the feed sends the size again on a new connection.
      if (!isTrlError(error, "SESSION_NOT_FOUND", "RUNTIME_UNAVAILABLE")) failed(error);
    });
  };
  /** Applies the terminal's size, which another client may have chosen: output is drawn for that size. */
  const follow = ({ cols, rows }: { cols: number; rows: number }) => {
    isFollowing = true;
    if (cols !== xterm.cols || rows !== xterm.rows) xterm.resize(cols, rows);
    isFollowing = false;
  };
  const listeners = [
    xterm.onData(type),
    xterm.onBinary((data) => type(Uint8Array.from(data, (character) => character.charCodeAt(0)))),
    xterm.onResize(sendSize),
  ];
  const detach = () => {
    for (const listener of listeners.splice(0)) listener.dispose();
  };
  sendSize(xterm); // before the screen is drawn
  const stop = terminal.watch(
    {
      // xterm.js parses writes asynchronously, so a resize is queued behind the writes before it.
      output: (bytes, { isRedraw, missing }) => {
        // A redraw overwrites any screen, but without a reset the scrollback would be there twice.
        if (isRedraw && missing === 0) xterm.write(fullReset);
        return new Promise<void>((done) => xterm.write(bytes, done));
      },
      resize: (size) => xterm.write("", () => follow(size)),
      exit: (exit) => {
        detach();
        onExit?.(exit);
      },
      error: (error) => {
        detach();
        onError(error, { isOver: true });
      },
    },
    { scrollback },
  );
  return {
    [Symbol.dispose]() {
      stop();
      detach();
    },
  };
}
