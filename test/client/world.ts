// What the cases need around them, by Node.js's own means, so that it runs wherever the client runs: daemons, ways to
// reach them, and facts to wait for.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectOptions, connect, isTrlError, type Target, type Trl, type TrlError } from "trl/client";
import { CuttableLine } from "./cuttable-line.ts";

export type Transport = "socket" | "http" | "stdio";
export const token = "token-of-the-tests";
export const binary = join(process.cwd(), "dist/trl");
/** Built beside the cases. */
export const leaver = join(process.cwd(), "dist/test-client/leaver.js");

export interface Case {
  name: string;
  /** Where it makes sense; everywhere, unless said. */
  on?: readonly Transport[];
  run(world: World): Promise<void>;
}

export interface Daemon extends AsyncDisposable {
  socket: string;
  url: string;
  pid: number;
  kill(): Promise<void>;
}

export async function startDaemon(dir: string, socket = join(dir, "trl.sock")): Promise<Daemon> {
  const child = spawn(binary, ["serve", "--socket-path", socket, "--http", "127.0.0.1:0", "--allow-root"], {
    cwd: dir,
    env: { PATH: process.env["PATH"], HOME: dir, LANG: "C.UTF-8", TRL_AUTH_TOKEN: token },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const url = await until(`a daemon that is ready: ${log}`, () => {
    if (child.exitCode !== null) throw new Error(`the daemon ended:\n${log}`);
    return log.includes("ready") ? /http=(http:\/\/[\d.]+:\d+)/.exec(log)?.[1] : undefined;
  });
  return {
    socket,
    url,
    pid: child.pid!,
    kill: () => ended(child, "SIGKILL"),
    [Symbol.asyncDispose]: () => ended(child, "SIGTERM"),
  };
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill(signal);
  return exit;
}

/** Of one case: a directory, and a daemon that it shares with the others unless it wants its own. */
export class World implements AsyncDisposable {
  readonly dir = mkdtempSync(join(tmpdir(), "trl-client-"));
  readonly #toClose: (() => Promise<void>)[] = [];
  #children = 0;

  constructor(
    readonly transport: Transport,
    readonly shared: Daemon,
  ) {}

  /** By the transport of this run. With stdio each has a daemon of its own. */
  async connect(options: ConnectOptions = {}, daemon: Daemon = this.shared): Promise<Trl> {
    return this.keep(await connect(this.target(daemon), options));
  }

  target(daemon: Daemon): Target {
    if (this.transport === "socket") return daemon.socket;
    if (this.transport === "http") return { url: daemon.url, token };
    const stem = join(this.dir, `child-${++this.#children}`);
    const line = `echo $$ >"$1.pid"; exec "$0" serve --stdin --socket-path "$1.sock" --allow-root`;
    return { command: ["/bin/sh", "-c", line, binary, stem] };
  }

  /** Another client of the same daemon as the last one. */
  async another(options: ConnectOptions = {}): Promise<Trl> {
    const socket = join(this.dir, `child-${this.#children}.sock`);
    const target = this.transport === "stdio" ? socket : this.target(this.shared);
    return this.keep(await connect(target, options));
  }

  /** The pid of the daemon that the last client started. */
  childPid(): number {
    return Number(readFileSync(join(this.dir, `child-${this.#children}.pid`), "utf8"));
  }

  async ownDaemon(socket?: string): Promise<Daemon> {
    const daemon = await startDaemon(this.dir, socket);
    this.#toClose.push(async () => await daemon[Symbol.asyncDispose]());
    return daemon;
  }

  /** A client whose line can be cut. */
  async overProxy(
    options: ConnectOptions = {},
    daemon: Daemon = this.shared,
  ): Promise<{ trl: Trl; proxy: CuttableLine }> {
    const proxy = await this.proxyTo(daemon);
    return { trl: this.keep(await connect(proxy.target, options)), proxy };
  }

  async proxyTo(daemon: Daemon): Promise<CuttableLine> {
    const proxy = await CuttableLine.open(
      this.transport === "http"
        ? { url: daemon.url, token }
        : { socket: daemon.socket, via: join(this.dir, "proxy.sock") },
    );
    this.#toClose.push(() => proxy.close());
    return proxy;
  }

  keep(trl: Trl): Trl {
    this.#toClose.push(() => trl.close());
    return trl;
  }

  path(name: string): string {
    return join(this.dir, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ends = this.#toClose.reverse().map((close) => () => soon("the end of a case", close()));
    const errors: unknown[] = [];
    for (const end of ends) await end().catch((error: unknown) => errors.push(error));
    rmSync(this.dir, { recursive: true, force: true });
    if (errors.length > 0) throw errors[0];
  }
}

/** Waits for a fact, not for time to pass. */
export async function until<T>(
  what: string,
  fact: () => T | Promise<T>,
  timeoutMs = 50_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await fact();
    if (value) return value as NonNullable<T>;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What hangs fails, by its name. */
export async function soon<T>(what: string, promise: Promise<T>, timeoutMs = 50_000): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`still not settled after ${timeoutMs} ms: ${what}`)),
      timeoutMs,
    );
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The error of trl that it must be rejected with, of one of these codes. */
export async function failure(
  what: string,
  promise: Promise<unknown>,
  ...codes: string[]
): Promise<TrlError> {
  const outcome = await soon(
    what,
    promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  );
  if (!("error" in outcome))
    throw new Error(`${what}: was not rejected, but ${JSON.stringify(outcome.value)}`);
  if (!isTrlError(outcome.error))
    throw new Error(`${what}: rejected with what is no error of trl: ${outcome.error}`, {
      cause: outcome.error,
    });
  if (codes.length > 0 && !codes.includes(outcome.error.code))
    throw new Error(
      `${what}: expected ${codes.join(" or ")}, got ${outcome.error.code}: ${outcome.error.message}`,
    );
  return outcome.error;
}

/** What an application throws on purpose; nothing else may be thrown where nobody hears it. */
export class ApplicationError extends Error {}
export const applicationErrors: ApplicationError[] = [];
