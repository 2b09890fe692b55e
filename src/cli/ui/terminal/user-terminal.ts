// The user's terminal: raw mode while attached, restored at any kind of exit.
import { writeSync } from "node:fs";
import { AlternateScreen } from "./alternate-screen.ts";

/** Resets all modes that a program may have set, without moving the cursor. */
const resetModes =
  "\x1b[?9;1000;1001;1002;1003;1004;1005;1006;1015;1016;2004;2026l" + // mouse, focus, paste, batches
  "\x1b[?1;5;45;66l\x1b>\x1b[4l\x1b[?7;25h" + // keys, keypad, colours, insert; wrapping and cursor on
  "\x1b[=0;1u\x1b[>4m" + // keyboard protocols of kitty and xterm
  "\x1b7\x1b[r\x1b8\x1b[!p" + // scroll region
  "\x1b(B\x0f\x1b[0m\x1b[0 q"; // charset, colours, cursor style

export interface Size {
  cols: number;
  rows: number;
}

export const isOnTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true;

const sideMax = 2000;

/** Undefined if the terminal does not report a size. */
export function userSize(): Size | undefined {
  if (!process.stdout.isTTY) return undefined;
  const [cols, rows] = process.stdout.getWindowSize();
  if (!cols || !rows) return undefined;
  return { cols: Math.min(cols, sideMax), rows: Math.min(rows, sideMax) };
}

export class UserTerminal implements Disposable {
  readonly screen = new AlternateScreen();
  readonly #restore = () => this[Symbol.dispose]();
  #isRestored = false;

  constructor() {
    process.on("exit", this.#restore); // also after an uncaught exception
    // Scrolls the visible text into the scrollback before it is overwritten.
    say(1, "\n".repeat(userSize()?.rows ?? 0));
    process.stdin.setRawMode(true);
    // setRawMode leaves output processing on, which would translate line feeds.
    Bun.spawnSync(["sh", "-c", "exec stty -opost"], { stdio: ["inherit", "ignore", "ignore"] });
  }

  [Symbol.dispose](): void {
    if (this.#isRestored) return;
    this.#isRestored = true;
    process.off("exit", this.#restore);
    say(1, restoreText(this.screen));
    try {
      process.stdin.setRawMode(false);
    } catch {
      // the terminal is gone
    }
  }
}

/** Restores a terminal that has shown the output of another one. */
export function restoreText(screen: AlternateScreen): string {
  const leave = screen.isShown ? "\x1b[?1049l" : "\x1b[?1047l";
  const newLine = screen.isAtLineStart ? "\r" : "\r\n";
  return `\x1b\\${leave}${resetModes}${newLine}\x1b[J`;
}

/** Writes synchronously; errors are ignored, because the terminal may be gone. */
export function say(fd: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0, tries = 0; at < bytes.length && tries < 100; tries++) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      Bun.sleepSync(2);
    }
  }
}
