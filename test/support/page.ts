// A Markdown page as its reader meets it: a daemon that runs, and the examples typed from top to bottom.
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { startDaemon, type TestDaemon } from "./daemon.ts";
import type { Program, Step } from "./markdown.ts";
import { isDaemon, isInBackground, PageShell } from "./page-shell.ts";
import { binary } from "./program.ts";
import { problemOf } from "./requirements.ts";
import { Transcript } from "./transcript.ts";
import { User } from "./user.ts";
import { until } from "./wait.ts";

/** What the page says, and what was printed, both without what may differ. */
export interface Comparison {
  told: string;
  seen: string;
}

/** What a reader does at a command that takes over his terminal. */
export type Hands = (user: User) => Promise<void>;

const root = join(import.meta.dir, "../..");
const pythonClient = join(root, "examples/python");
/** Python itself, not a shim that would be seen in a list of processes; none where there is none. */
function pythonDirectory(): string[] {
  if (problemOf("python3")) return [];
  const print = "import sys; print(sys.executable, end='')";
  return [dirname(Bun.spawnSync(["python3", "-c", print]).stdout.toString())];
}

/** What runs the programs of a page. */
const languages = {
  python: { suffix: "py", runtimes: [["python3"]] },
  js: { suffix: "mjs", runtimes: [["node"], [process.execPath]] },
};
const path = [dirname(binary), ...pythonDirectory(), process.env["PATH"]].join(":");

export class Page implements AsyncDisposable {
  readonly #transcript = new Transcript();
  readonly #ports = new Map<string, string>();
  readonly #daemon: TestDaemon;
  readonly #shell: PageShell;
  readonly #env: Record<string, string>;
  #programs = 0;
  #user: User | undefined;

  static async open(): Promise<Page> {
    const page = new Page(await startDaemon({ env: { PATH: path } }));
    mkdirSync(page.#home);
    await Bun.write(join(page.#home, ".curlrc"), "silent\n"); // no meter, as at a terminal
    symlinkSync(join(root, "examples"), join(page.#daemon.dir, "examples"));
    mkdirSync(join(page.#daemon.dir, "node_modules"));
    symlinkSync(root, join(page.#daemon.dir, "node_modules/trl")); // as `npm install /path/to/trl` does
    return page;
  }

  private constructor(daemon: TestDaemon) {
    this.#daemon = daemon;
    this.#env = {
      PATH: path,
      HOME: this.#home,
      LANG: "C.UTF-8",
      PYTHONPATH: pythonClient,
      PYTHONDONTWRITEBYTECODE: "1",
      TRL_SOCKET_PATH: daemon.socketPath,
      TRL_RUNTIME_DIR: daemon.dir, // daemons of other tests would hide the sockets of these from their sandboxes
      TRL_ALLOW_ROOT: "1", // the warning is not part of any page
    };
    this.#shell = new PageShell({ dir: daemon.dir, env: this.#env });
  }

  get #home(): string {
    return join(this.#daemon.dir, "home");
  }

  /** A command and what came of it. `^C` at the end of the output is the reader's. */
  async type({ command, output }: Step): Promise<Comparison> {
    const here = this.#transcript.translate(this.#toHere(command));
    const commandsBefore = await this.#commands();
    const [, beforeInterrupt] = /^(.*)^\^C\n$/ms.exec(output) ?? [];
    const printed =
      beforeInterrupt === undefined
        ? await this.#shell.run(here)
        : await this.#shell.runUntil(here, (text) => countLines(text) >= countLines(beforeInterrupt));
    if (isInBackground(here) && !isDaemon(here))
      await until(
        "the command in the background",
        async () => (await this.#commands()).length > commandsBefore.length,
      );
    await this.#untilAllSpeak();
    return this.#transcript.compare(beforeInterrupt ?? output, this.#fromHere(printed));
  }

  /** A command at a real terminal, and what its user does there. That he sees what is told is the comparison. */
  async typeAtTerminal({ command, output }: Step, hands: Hands): Promise<Comparison> {
    this.#user ??= await this.#sitDown();
    this.#user.enter("clear"); // what is told was not to be seen before
    await this.#user.sees(/^outer>\s*$/);
    this.#user.enter(this.#toHere(command));
    await hands(this.#user);
    await this.#user.sees(output.trim());
    return { told: output, seen: output };
  }

  /** A whole program in a file of its own, in each of the languages' runtimes. */
  async runProgram({ language, code, output }: Program): Promise<Comparison[]> {
    const { suffix, runtimes } = languages[language];
    const file = join(this.#daemon.dir, `example-${++this.#programs}.${suffix}`);
    await Bun.write(file, this.#toHere(code));
    const comparisons: Comparison[] = [];
    for (const [index, runtime] of runtimes.entries()) {
      const printed = await this.#run([...runtime, file]);
      // The page goes on with the ids of the first run; those of the others are others.
      const transcript = index === 0 ? this.#transcript : new Transcript();
      comparisons.push(transcript.compare(output, this.#fromHere(printed)));
    }
    return comparisons;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#user?.[Symbol.dispose]();
    await this.#shell[Symbol.asyncDispose]();
    await this.#daemon[Symbol.asyncDispose]();
  }

  async #run(command: string[]): Promise<string> {
    const child = Bun.spawn(command, {
      cwd: this.#daemon.dir,
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, exitCode] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    if (exitCode !== 0)
      throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${stdout}${this.#fromHere(stderr)}`);
    return stdout;
  }

  /** Files of the page are the test's own, and so are its ports. */
  #toHere(text: string): string {
    const moved = text.replace(/\/tmp\/(?=[\w.])/g, `${this.#daemon.dir}/`);
    return moved.replace(/(?<=127\.0\.0\.1:|http\.server )\d+/g, (port) => {
      if (!this.#ports.has(port)) this.#ports.set(port, String(freePort()));
      return this.#ports.get(port)!;
    });
  }

  #fromHere(text: string): string {
    // In a unit of systemd a path with a space is quoted.
    let result = text
      .replaceAll(`"${binary}"`, "/usr/local/bin/trl")
      .replaceAll(binary, "/usr/local/bin/trl")
      .replaceAll(this.#home, "/home/ada")
      .replaceAll(this.#daemon.dir, "/tmp");
    for (const [told, real] of this.#ports) result = result.replace(new RegExp(`\\b${real}\\b`, "g"), told);
    return result;
  }

  async #sitDown(): Promise<User> {
    const user = new User({ ...this.#daemon, cols: 80, rows: 24 });
    await user.sees("out$");
    user.enter("export -n PS1; PS1='outer> '; clear"); // to tell its prompt from those of shells within
    await user.sees(/^outer>$/m);
    return user;
  }

  /** A reader is slower than a script: what he has started has begun before he types on. A silent program is let be. */
  async #untilAllSpeak(): Promise<void> {
    using wire = await this.#daemon.connect();
    const areUp = async () => {
      const { sessions } = await wire.call("pty.list", {});
      const terminalsSpeak = sessions.every(({ state, offset }) => state === "exited" || offset > 0);
      const running = (await this.#commands()).filter(({ state }) => state === "running");
      return terminalsSpeak && running.every((it) => it.stdout_bytes + it.stderr_bytes > 0);
    };
    await until("all that runs to print something", areUp, 3000).catch(() => {});
  }

  async #commands() {
    using wire = await this.#daemon.connect();
    return (await wire.call("exec.list", {})).streams;
  }
}

const countLines = (text: string) => text.split("\n").length;

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  server.stop(true);
  return server.port;
}
