// The executable as scripts use it: words in, exit code and both outputs out; no terminal anywhere.

import { binary } from "./program.ts";
import { hangMs } from "./wait.ts";

export interface CallOptions {
  stdin?: string;
  env?: Record<string, string>;
}

export interface Called {
  code: number;
  out: string;
  err: string;
}

const environment = (socketPath: string, more: Record<string, string> = {}) =>
  ({
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    LANG: "C.UTF-8",
    TRL_SOCKET_PATH: socketPath,
    ...more,
  }) as Record<string, string>;

/** Calls of one daemon. */
export function commandLine(socketPath: string, { stdin = "", env }: CallOptions = {}) {
  return (...words: string[]): Called => {
    const result = Bun.spawnSync([binary, ...words], {
      env: environment(socketPath, env),
      cwd: "/tmp",
      stdin: Buffer.from(stdin),
      timeout: hangMs,
    });
    return { code: result.exitCode, out: result.stdout.toString(), err: result.stderr.toString() };
  };
}

/** One that goes on while the test does something else. */
export function startCall(socketPath: string, ...words: string[]) {
  const child = Bun.spawn([binary, ...words], {
    env: environment(socketPath),
    cwd: "/tmp",
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  const read = async (stream: ReadableStream<Uint8Array>, add: (text: string) => void) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) add(decoder.decode(chunk, { stream: true }));
  };
  const all = Promise.all([
    read(child.stdout, (text) => {
      out += text;
    }),
    read(child.stderr, (text) => {
      err += text;
    }),
  ]);
  return {
    out: () => out,
    err: () => err,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** All that it wrote has been read. */
    async ended(): Promise<Called> {
      const code = await child.exited;
      await all;
      return { code, out, err };
    },
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}
