// A terminal of trl in xterm.js: output, keys, sizes and flow control, until it is disposed of.
import type { Terminal } from "./terminal.ts";
import type { TerminalExit } from "./terminal-feed.ts";

/** What is used of an xterm.js `Terminal`, of any version. */
export interface XtermLike {
  readonly cols: number;
  readonly rows: number;
  write(data: Uint8Array, done: () => void): void;
  reset(): void;
  resize(cols: number, rows: number): void;
  onData(listener: (data: string) => void): { dispose(): void };
  onBinary(listener: (data: string) => void): { dispose(): void };
  onResize(listener: (size: { cols: number; rows: number }) => void): { dispose(): void };
}

export interface XtermOptions {
  /** Lines above the screen that are drawn at first (1000). */
  scrollback?: number;
  onExit?(exit: TerminalExit): void;
  /** What is shown stays; nothing more comes, or what was typed did not arrive. */
  onError?(error: Error): void;
}

/** Disposing of it leaves both terminals as they are. */
export function attachXterm(terminal: Terminal, xterm: XtermLike, options: XtermOptions = {}): Disposable {
  const { scrollback = 1000, onExit, onError = () => {} } = options;
  const type = (data: string | Uint8Array) => void terminal.write(data).catch(onError);
  let isFollowing = false;
  const tell = ({ cols, rows }: { cols: number; rows: number }) => {
    if (!isFollowing) void terminal.resize(cols, rows).catch(onError);
  };
  /** Another client decides: what is drawn for its size must be shown in its size. */
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
  tell(xterm); // before the screen is drawn
  const stop = terminal.watch(
    {
      output: (bytes, { isRedraw, missing }) => {
        // A redraw can be drawn over anything; only lines above the screen would come twice.
        if (isRedraw && missing === 0) xterm.reset();
        return new Promise<void>((done) => xterm.write(bytes, done));
      },
      resize: follow,
      ...(onExit ? { exit: onExit } : {}),
      error: onError,
    },
    { scrollback },
  );
  return {
    [Symbol.dispose]() {
      stop();
      for (const listener of listeners) listener.dispose();
    },
  };
}
