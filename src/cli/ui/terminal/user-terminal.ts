// The terminal that the user sits at: raw while we have it, and as it was when we are gone, however we go.
import { writeSync } from "node:fs";
import { AlternateScreen } from "./alternate-screen.ts";

/** Ends whatever sequence was cut off, then all that a program may have switched on; the cursor stays where it is. */
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

/** Undefined where the terminal does not know. */
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
    process.on("exit", this.#restore); // should an exception take us
    // What the screen shows moves up to where the user can scroll back to, before it is drawn over.
    say(1, "\n".repeat(userSize()?.rows ?? 0));
    process.stdin.setRawMode(true);
    // The program's line feeds are meant as they are, which setRawMode does not see to.
    Bun.spawnSync(["sh", "-c", "exec stty -opost"], { stdio: ["inherit", "ignore", "ignore"] });
  }

  [Symbol.dispose](): void {
    if (this.#isRestored) return;
    this.#isRestored = true;
    process.off("exit", this.#restore);
    say(1, leavingText(this.screen));
    try {
      process.stdin.setRawMode(false);
    } catch {
      // it is gone
    }
  }
}

/** To a terminal that has shown the output of another one, for it to be as it was. */
export function leavingText(screen: AlternateScreen): string {
  const leave = screen.isShown ? "\x1b[?1049l" : "\x1b[?1047l";
  const newLine = screen.isAtLineStart ? "\r" : "\r\n";
  return `\x1b\\${leave}${resetModes}${newLine}\x1b[J`;
}

/** At once, and without complaint where nobody is there any more. */
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
