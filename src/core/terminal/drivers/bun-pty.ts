// Terminals by the bun-pty library. It decodes output to text, so that bytes that are none are lost; it takes a death
// by signal for an exit with 1; and it gives the program the daemon's environment with ours on top, so that what is
// not ours is taken out again by env(1). Its own `kill` invents an exit code and is called for its cleanup only.
import type { IPty } from "bun-pty";
import { unreadInput } from "../../../platform/terminal.ts";
import { bunPtyLibrary } from "./bun-pty-library.ts";
import type { PtyDriver, PtyExit, PtyProcess, PtySpec, TerminalSize } from "./driver.ts";

/** How long the library's thread may take to pass a write on to the terminal, on a busy machine. */
const deliveryMs = 30;

export const bunPtyDriver: PtyDriver = {
  name: "bun-pty",
  capabilities: { raw_bytes: false, exit_signal: false },
  spawn: (spec) => new BunPty(spec),
};

class BunPty implements PtyProcess {
  readonly exited: Promise<void>;
  readonly ended: Promise<PtyExit>;
  readonly #pty: IPty;
  #writes: { atMs: number; bytes: number }[] = [];
  readonly #decoder = new TextDecoder();

  constructor(spec: PtySpec) {
    const { env, workingDir, cols, rows, onOutput } = spec;
    const [file, ...args] = withoutInherited(spec);
    const { resolve, promise } = Promise.withResolvers<PtyExit>();
    this.#pty = bunPtyLibrary().spawn(file, args, {
      name: env["TERM"] ?? "dumb",
      cols,
      rows,
      cwd: workingDir,
      env,
    });
    this.#pty.onData((text) => onOutput(Buffer.from(text)));
    this.#pty.onExit(({ exitCode }) => resolve({ exitCode, signal: null }));
    this.ended = promise.then((exit) => {
      this.#pty.kill();
      return exit;
    });
    this.exited = this.ended.then(() => {});
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /**
   * The library does not report it. While the program has something left to read, nothing counts as taken; while the
   * library's thread may not have passed a write on to the terminal, that write does not count as taken either.
   */
  get pendingBytes(): number {
    const passedOn = performance.now() - deliveryMs;
    if (this.#writes.some(({ atMs }) => atMs < passedOn) && unreadInput(this.pid) === 0)
      this.#writes = this.#writes.filter(({ atMs }) => atMs >= passedOn);
    return this.#writes.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  write(bytes: Uint8Array): void {
    this.#writes.push({ atMs: performance.now(), bytes: bytes.length });
    this.#pty.write(this.#decoder.decode(bytes, { stream: true }));
  }

  resize({ cols, rows }: TerminalSize): void {
    this.#pty.resize(cols, rows);
  }

  usage(): undefined {}

  /** Its threads read ahead and wait for the program where nobody can look: it cannot be handed over. */
  readonly isAtRest = true;
}

function withoutInherited({ argv, env, daemonVariables }: PtySpec): PtySpec["argv"] {
  const given = new Set([...daemonVariables, "SHELL"]); // the library adds that one by itself
  const foreign = [...given].filter((name) => !Object.hasOwn(env, name));
  if (foreign.length === 0) return argv;
  // env(1) would take a path with "=" in it for a variable.
  const program = argv[0].includes("=") ? ["/bin/sh", "-c", 'exec "$0" "$@"', ...argv] : argv;
  return ["/usr/bin/env", ...foreign.flatMap((name) => ["-u", name]), ...program];
}
