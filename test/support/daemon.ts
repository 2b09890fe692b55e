// A real daemon in a directory of its own, gone with everything it started when the test is over.
import { join } from "node:path";
import { binary } from "./program.ts";
import { tempDir } from "./temp-dir.ts";
import { until } from "./wait.ts";
import { Wire } from "./wire.ts";

export interface DaemonSetup {
  flags?: string[];
  env?: Record<string, string>;
  /** Instead of the compiled executable. */
  program?: string[];
}

export interface TestDaemon extends AsyncDisposable {
  socketPath: string;
  dir: string;
  pid: number;
  connect(): Promise<Wire>;
  /** All that it has logged so far. */
  log(): string;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number>;
}

export async function startDaemon({
  flags = [],
  env = {},
  program = [binary],
}: DaemonSetup = {}): Promise<TestDaemon> {
  const dir = tempDir();
  const socketPath = join(dir.path, "trl.sock");
  const child = Bun.spawn([...program, "serve", "--socket-path", socketPath, "--allow-root", ...flags], {
    cwd: dir.path,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], LANG: "C.UTF-8", ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  const logRead = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true });
  })();
  await until("the daemon's socket", async () => {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}:\n${log}`);
    return log.includes("ready");
  });
  return {
    socketPath,
    dir: dir.path,
    pid: child.pid,
    connect: () => Wire.connect(socketPath),
    log: () => log,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      await logRead;
      dir[Symbol.dispose]();
    },
  };
}
