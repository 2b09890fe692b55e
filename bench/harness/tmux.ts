// tmux in control mode, the nearest peer of terminals: a server of its own, commands on its standard input, `%output`
// lines on its standard output.
import { leaving } from "./leavings.ts";
import type { Bench } from "./scenario.ts";
import type { Side } from "./side.ts";
import { talkToProgram } from "./sides.ts";

let servers = 0;

export class Tmux implements AsyncDisposable {
  readonly #program: string[];
  readonly #isGone: () => void;

  private constructor(program: string[]) {
    this.#program = program;
    this.#isGone = leaving(() => Bun.spawnSync([...program, "kill-server"]));
  }

  /** Undefined where there is no tmux. */
  static start({ tools }: Bench): Tmux | undefined {
    if ("missing" in tools.tmux) return undefined;
    const name = `trl-bench-${process.pid}-${servers++}`;
    return new Tmux([...tools.tmux.command, "-L", name, "-f", "/dev/null"]);
  }

  /** A session without a client. */
  async newSession(name: string, command: string): Promise<void> {
    await this.run(["new-session", "-d", "-s", name, "-x", "80", "-y", "24", command]);
  }

  async run(args: string[]): Promise<string> {
    const child = Bun.spawn([...this.#program, ...args], { stdio: ["ignore", "pipe", "ignore"] });
    const text = await new Response(child.stdout).text();
    await child.exited;
    return text;
  }

  /** What one types into to be a control client of a new session. */
  controlCommand(command: string): string[] {
    return [...this.#program, "-C", "new-session", "-x", "80", "-y", "24", command];
  }

  attachCommand(name: string): string[] {
    return [...this.#program, "-C", "attach-session", "-t", name];
  }

  /** Types a key to `cat` and waits for its echo. */
  typist(bench: Bench): Promise<Side> {
    const key = "send-keys -l x";
    return talkToProgram(bench, this.controlCommand("cat"), {
      hello: { line: key, until: "%output" },
      lines: [key],
      until: "%output",
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run(["kill-server"]);
    this.#isGone();
  }
}
