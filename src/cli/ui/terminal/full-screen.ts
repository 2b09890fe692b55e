// A screen of our own over the user's, who finds theirs as it was when we are gone, however we go.
import { constants } from "node:os";
import { say, userSize } from "./user-terminal.ts";

/** The other screen, without a cursor and without wrapping. */
const enterText = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const leaveText = "\x1b[?7h\x1b[?25h\x1b[0m\x1b[?1049l";

const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

export interface FullScreenEvents {
  key(key: string): void;
  /** Everything is to be drawn anew. */
  redraw(): void;
}

export class FullScreen implements Disposable {
  readonly #ended = Promise.withResolvers<number>();
  /** The exit code, when it was told to end. */
  readonly ended = this.#ended.promise;
  readonly #stack = new DisposableStack();
  #isEntered = false;

  constructor(events: FullScreenEvents) {
    this.#on("exit", () => this.#leave()); // should an exception take us
    for (const signal of signals) this.#on(signal, () => this.end(128 + constants.signals[signal]));
    this.#on("SIGWINCH", () => events.redraw());
    this.#on("SIGCONT", () => {
      this.#enter();
      events.redraw();
    });
    const hear = (typed: Buffer) => this.#hear(typed, events);
    const hangUp = () => this.end(128 + constants.signals.SIGHUP);
    process.stdin.on("data", hear).on("end", hangUp);
    this.#stack.defer(() => process.stdin.off("data", hear).off("end", hangUp).pause());
    this.#stack.defer(() => this.#leave());
    this.#enter();
  }

  get size(): { cols: number; rows: number } {
    return userSize() ?? { cols: 80, rows: 24 };
  }

  /** As many lines as there are rows; what was there is written over, so that nothing flickers. */
  draw(lines: string[]): void {
    const { cols, rows } = this.size;
    // In the last column the rest of a line, or of the screen, is its last character.
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

  #hear(typed: Buffer, events: FullScreenEvents): void {
    for (const key of keysIn(typed.toString("latin1"))) {
      if (key === "q" || key === "\x03") this.end(0);
      else if (key === "\x1a") this.#suspend();
      else events.key(key);
    }
  }

  /** As ^Z does where the terminal sees to it; SIGCONT brings us back. */
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

/** Single characters, and sequences as one. */
const keysIn = (typed: string): string[] => typed.match(/\x1b(?:\[[\d;]*[A-Za-z~]|O[A-Z])|[\s\S]/g) ?? [];
