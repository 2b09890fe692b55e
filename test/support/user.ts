// A user at a real terminal, for tests that declare `needs("tmux")`: a shell in tmux, its keys and its screen.
import { dirname, join } from "node:path";
import { binary } from "./program.ts";
import { until } from "./wait.ts";

const tmux = Bun.which("tmux");
let count = 0;

export interface UserSetup {
  dir: string;
  socketPath: string;
  cols?: number;
  rows?: number;
}

export class User implements Disposable {
  /** tmux's own socket, beside everything else of the test. */
  readonly #server: string;

  constructor({ dir, socketPath, cols = 100, rows = 30 }: UserSetup) {
    this.#server = join(dir, `tmux-${++count}`);
    const size = ["-x", String(cols), "-y", String(rows)];
    const env = {
      TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"]!,
      PATH: `${dirname(binary)}:${process.env["PATH"]}`,
      HOME: dir,
      SHELL: Bun.which("bash")!,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      PS1: "out$ ",
      HISTFILE: "",
      TRL_SOCKET_PATH: socketPath,
    };
    this.#tmux(["-f", "/dev/null", "new-session", "-d", ...size, "bash", "--norc", "--noprofile"], {
      cwd: dir,
      env,
    });
  }

  /** Keys by tmux's names: "Enter", "C-c", or text. */
  press(...keys: string[]): void {
    this.#tmux(["send-keys", ...keys]);
  }

  /** A line, at the shell or whatever reads there. */
  enter(line: string): void {
    this.#tmux(["send-keys", "-l", line]);
    this.press("Enter");
  }

  paste(file: string): void {
    this.#tmux(["load-buffer", file]);
    this.#tmux(["paste-buffer", "-r"]);
  }

  resize(cols: number, rows: number): void {
    this.#tmux(["resize-window", "-x", String(cols), "-y", String(rows)]);
  }

  /** The file is there as soon as the bell has rung. */
  notesBells(file: string): void {
    this.#tmux(["set-option", "-g", "bell-action", "any"]);
    this.#tmux(["set-hook", "-g", "alert-bell", `run-shell "touch ${file}"`]);
  }

  screen(): string {
    return this.#tmux(["capture-pane", "-p"]);
  }

  /** With its colours. */
  styled(): string {
    return this.#tmux(["capture-pane", "-pe"]);
  }

  /** With what has left the screen at its top. */
  history(): string {
    return this.#tmux(["capture-pane", "-p", "-S", "-"]);
  }

  async sees(what: string | RegExp): Promise<void> {
    const isSeen = (screen: string) => (typeof what === "string" ? screen.includes(what) : what.test(screen));
    await until(`the user to see ${what}`, () => isSeen(this.screen())).catch((error: Error) => {
      throw new Error(`${error.message}; there is:\n${this.screen()}`);
    });
  }

  /** What tmux knows of its terminal, by tmux's names. */
  knows(...formats: string[]): string {
    return this.#tmux(["display-message", "-p", formats.map((name) => `#{${name}}`).join(" ")]).trim();
  }

  /** At a shell that takes lines again: a clean screen, and the answer to a command. */
  async asks(command: string, answer: string | RegExp): Promise<void> {
    this.enter("clear");
    this.enter(command);
    await this.sees(answer);
  }

  [Symbol.dispose](): void {
    Bun.spawnSync([tmux!, "-S", this.#server, "kill-server"], { stdin: "ignore" }); // it may have ended with its shell
  }

  #tmux(words: string[], options: { cwd?: string; env?: Record<string, string> } = {}): string {
    const result = Bun.spawnSync([tmux!, "-S", this.#server, ...words], { stdin: "ignore", ...options });
    if (result.exitCode !== 0) throw new Error(`tmux ${words[0]}: ${result.stderr}`);
    return result.stdout.toString();
  }
}
