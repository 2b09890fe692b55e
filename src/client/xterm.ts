// A terminal of trl in xterm.js: output, keys, sizes and flow control, until it is disposed of.
import { isTrlError } from "./errors.ts";
import type { Terminal } from "./terminal.ts";
import type { TerminalExit } from "./terminal-feed.ts";

/** What is used of an xterm.js `Terminal`, of any version. */
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
  /** Lines above the screen that are drawn at first (1000). */
  scrollback?: number;
  /** The program has ended. What it showed last stays, and keys go nowhere. */
  onExit?(exit: TerminalExit): void;
  /**
   * What was typed did not arrive; or, where `isOver`, nothing more comes: the terminal is gone, or the daemon cannot be
   * reached any more. What is shown stays.
   */
  onError?(error: Error, info: { isOver: boolean }): void;
}

/** As a terminal's reset key would: modes, screen and history. */
const fullReset = "\x1bc";

/** Disposing of it leaves both terminals as they are. */
export function attachXterm(terminal: Terminal, xterm: XtermLike, options: XtermOptions = {}): Disposable {
  const { scrollback = 1000, onExit, onError = () => {} } = options;
  const failed = (error: Error) => onError(error, { isOver: false });
  const type = (data: string | Uint8Array) => void terminal.write(data).catch(failed);
  let isFollowing = false;
  const tell = ({ cols, rows }: { cols: number; rows: number }) => {
    if (isFollowing) return;
    void terminal.resize(cols, rows).catch((error: Error) => {
      // The end is told by itself, and a new connection is told the size.
      if (!isTrlError(error, "SESSION_NOT_FOUND", "RUNTIME_UNAVAILABLE")) failed(error);
    });
  };
  /** The size that holds, whoever chose it: what is drawn for it must be shown in it. */
  const follow = ({ cols, rows }: { cols: number; rows: number }) => {
    isFollowing = true;
    if (cols !== xterm.cols || rows !== xterm.rows) xterm.resize(cols, rows);
    isFollowing = false;
  };
  const listeners = [
    xterm.onData(type),
    xterm.onBinary((data) => type(Uint8Array.from(data, (character) => character.charCodeAt(0)))),
    xterm.onResize(tell),
  ];
  const letGo = () => {
    for (const listener of listeners.splice(0)) listener.dispose();
  };
  tell(xterm); // before the screen is drawn
  const stop = terminal.watch(
    {
      // xterm.js reads what it is given a little later: whatever else is to happen waits for its place in that queue.
      output: (bytes, { isRedraw, missing }) => {
        // A redraw can be drawn over anything; only lines above the screen would come twice.
        if (isRedraw && missing === 0) xterm.write(fullReset);
        return new Promise<void>((done) => xterm.write(bytes, done));
      },
      resize: (size) => xterm.write("", () => follow(size)),
      exit: (exit) => {
        letGo();
        onExit?.(exit);
      },
      error: (error) => {
        letGo();
        onError(error, { isOver: true });
      },
    },
    { scrollback },
  );
  return {
    [Symbol.dispose]() {
      stop();
      letGo();
    },
  };
}
