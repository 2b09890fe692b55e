// The driver for the bun-pty library. The library decodes output to text, so invalid UTF-8 is lost; it reports a death by
// signal as exit code 1; and it merges the program's environment into the daemon's, so env(1) removes the rest again.
// Its `kill` invents an exit code and is called after the exit only, to free the library's memory.
import type { IPty } from "bun-pty";
import { unreadInput } from "../../../platform/terminal.ts";
import { bunPtyLibrary } from "./bun-pty-library.ts";
import type { PtyDriver, PtyExit, PtyProcess, PtySpec, TerminalSize } from "./driver.ts";

/** How long the library's thread may take to pass a write to the terminal, on a busy machine. */
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
    const [file, ...args] = withoutDaemonVariables(spec);
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
   * An estimate, as the library does not report it: writes of the last `deliveryMs` may still be in the library's queue
   * and count as pending; all writes do while the terminal holds unread input.
   */
  get pendingBytes(): number {
    const deliveredBefore = performance.now() - deliveryMs;
    if (this.#writes.some(({ atMs }) => atMs < deliveredBefore) && unreadInput(this.pid) === 0)
      this.#writes = this.#writes.filter(({ atMs }) => atMs >= deliveredBefore);
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

  /** `pack` is missing: the library's threads hold output and the exit status, so an upgrade cannot save them. */
  readonly isAtRest = true;
}

function withoutDaemonVariables({ argv, env, daemonVariables }: PtySpec): PtySpec["argv"] {
  const inherited = new Set([...daemonVariables, "SHELL"]); // the library adds SHELL itself
  const foreign = [...inherited].filter((name) => !Object.hasOwn(env, name));
  if (foreign.length === 0) return argv;
  // env(1) takes a path that contains "=" for a variable.
  const program = argv[0].includes("=") ? ["/bin/sh", "-c", 'exec "$0" "$@"', ...argv] : argv;
  return ["/usr/bin/env", ...foreign.flatMap((name) => ["-u", name]), ...program];
}
