// tmux in control mode, the peer of terminals: a server of our own, commands on its stdin, `%output` lines on its stdout.
export const hasTmux = Bun.which("tmux") !== null;

export class TmuxControl implements AsyncDisposable {
  bytesOut = 0;
  onOutput: (() => void) | undefined;
  readonly ended: Promise<void>;
  readonly #child: Bun.Subprocess<"pipe", "pipe", "ignore">;

  constructor(command: string) {
    const server = `trl-bench-${process.pid}-${performance.now()}`;
    this.#child = Bun.spawn(
      ["tmux", "-L", server, "-f", "/dev/null", "-C", "new-session", "-x", "80", "-y", "24", command],
      {
        stdio: ["pipe", "pipe", "ignore"],
      },
    );
    this.ended = this.#read();
  }

  /** One keystroke to the only pane. */
  type(key: string): void {
    this.#child.stdin.write(`send-keys -l '${key}'\n`);
    this.#child.stdin.flush();
  }

  async #read(): Promise<void> {
    for await (const chunk of this.#child.stdout) {
      this.bytesOut += chunk.length;
      if (this.onOutput && Buffer.from(chunk).includes("%output")) this.onOutput();
    }
  }

  async [Symbol.asyncDispose]() {
    try {
      this.#child.stdin.write("kill-server\n");
      this.#child.stdin.flush();
    } catch {
      // its only program has ended, and it with it
    }
    await this.#child.exited;
  }
}
