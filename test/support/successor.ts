// The next daemon on the socket of one that was killed.
import { binary } from "./program.ts";
import { until } from "./wait.ts";
import { Wire } from "./wire.ts";

export interface Successor extends AsyncDisposable {
  pid: number;
  connect(): Promise<Wire>;
  log(): string;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number>;
}

/** Resolves when it listens. Disposing stops it with everything that it started. */
export async function startOn(
  socketPath: string,
  { flags = [], env = {} }: { flags?: string[]; env?: Record<string, string> } = {},
): Promise<Successor> {
  const child = Bun.spawn([binary, "serve", "--socket-path", socketPath, "--allow-root", ...flags], {
    env: {
      PATH: process.env["PATH"],
      LANG: "C.UTF-8",
      TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"],
      ...env,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  const logRead = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true });
  })();
  await until("the daemon to be ready", () => {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}:\n${log}`);
    return log.includes("ready");
  });
  return {
    pid: child.pid,
    connect: () => Wire.connect(socketPath),
    log: () => log,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      await logRead;
    },
  };
}
