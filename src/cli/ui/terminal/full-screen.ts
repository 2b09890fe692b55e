// Draws on the alternate screen and restores the user's screen at any kind of exit.
import { constants } from "node:os";
import { say, userSize } from "./user-terminal.ts";

/** Alternate screen, cursor hidden, wrapping off. */
const enterText = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const leaveText = "\x1b[?7h\x1b[?25h\x1b[0m\x1b[?1049l";

const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

export interface FullScreenEvents {
  key(key: string): void;
  redraw(): void;
}

export class FullScreen implements Disposable {
  readonly #ended = Promise.withResolvers<number>();
  /** Resolves with the exit code. */
  readonly ended = this.#ended.promise;
  readonly #stack = new DisposableStack();
  #isEntered = false;

  constructor(events: FullScreenEvents) {
    this.#on("exit", () => this.#leave()); // also after an uncaught exception
    for (const signal of signals) this.#on(signal, () => this.end(128 + constants.signals[signal]));
    this.#on("SIGWINCH", () => events.redraw());
    this.#on("SIGCONT", () => {
      this.#enter();
      events.redraw();
    });
    const onData = (typed: Buffer) => this.#typed(typed, events);
    const hangUp = () => this.end(128 + constants.signals.SIGHUP);
    process.stdin.on("data", onData).on("end", hangUp);
    this.#stack.defer(() => process.stdin.off("data", onData).off("end", hangUp).pause());
    this.#stack.defer(() => this.#leave());
    this.#enter();
  }

  get size(): { cols: number; rows: number } {
    return userSize() ?? { cols: 80, rows: 24 };
  }

  /** Overwrites instead of clearing first, which would flicker. */
  draw(lines: string[]): void {
    const { cols, rows } = this.size;
    // With the cursor in the last column, erasing to the end would erase the last character.
    const text = lines.map((line) => (Bun.stringWidth(line) < cols ? `${line}\x1b[K` : line)).join("\r\n");
    const below = lines.length < rows ? "\x1b[J" : "";
    if (this.#isEntered) say(1, `\x1b[?2026h\x1b[H${text}${below}\x1b[?2026l`);
  }

  end(exitCode: number): void {
    this.#ended.resolve(exitCode);
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
  }

  #on(event: "exit" | NodeJS.Signals, listener: () => void): void {
    process.on(event, listener);
    this.#stack.defer(() => void process.off(event, listener));
  }

  #typed(typed: Buffer, events: FullScreenEvents): void {
    for (const key of keysIn(typed.toString("latin1"))) {
      if (key === "q" || key === "\x03") this.end(0);
      else if (key === "\x1a") this.#suspend();
      else events.key(key);
    }
  }

  /** Raw mode disables ^Z, so the signal is sent here; SIGCONT enters again. */
  #suspend(): void {
    this.#leave();
    process.kill(0, "SIGTSTP");
  }

  #enter(): void {
    if (this.#isEntered) return;
    this.#isEntered = true;
    process.stdin.setRawMode(true);
    say(1, enterText);
  }

  #leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    say(1, leaveText);
    try {
      process.stdin.setRawMode(false);
    } catch {
      // the terminal is gone
    }
  }
}

/** Splits input into characters and escape sequences. */
const keysIn = (typed: string): string[] => typed.match(/\x1b(?:\[[\d;]*[A-Za-z~]|O[A-Z])|[\s\S]/g) ?? [];
