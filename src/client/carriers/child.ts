// A command whose standard input and output speak the protocol: `trl --stdin`, or the same behind ssh or docker.
// It lives as long as the carrier, and the daemon is gone with it.
import { type ChildProcess, spawn } from "node:child_process";
import { type Carrier, NoDaemonError, type OpenCarrier } from "./carrier.ts";
import { lineReader } from "./lines.ts";

export interface ChildTarget {
  /** The program and its arguments. */
  command: readonly string[];
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Where its log goes: nowhere, unless it fails to start, or to ours. */
  stderr?: "ignore" | "inherit";
}

/** Its sessions are ended by then, with everything that they started. */
const killAfterMs = 10_000;
/** Of what it says on standard error, should it end by itself. */
const lastWordsChars = 2000;

export function childCarrier({ command, env, cwd, stderr = "ignore" }: ChildTarget): OpenCarrier {
  /** A new one would know nothing of what the last one was doing. */
  let end: NoDaemonError | undefined;
  return ({ message, closed }) =>
    new Promise<Carrier>((resolve, reject) => {
      if (end) return reject(end);
      const [program = "", ...args] = command;
      const child = spawn(program, args, {
        stdio: ["pipe", "pipe", stderr === "inherit" ? "inherit" : "pipe"],
        ...(env ? { env: env as NodeJS.ProcessEnv } : {}),
        ...(cwd === undefined ? {} : { cwd }),
      });
      let lastWords = "";
      child.stderr?.on("data", (chunk: Buffer) => {
        lastWords = (lastWords + chunk.toString()).slice(-lastWordsChars);
      });
      child.on("error", (error) =>
        reject(new NoDaemonError(`${program} cannot be started: ${error.message}`)),
      );
      child.on("spawn", () => {
        end = new NoDaemonError(`${program} was given up`, {}, true);
        resolve({ send: (frame) => void child.stdin?.write(`${frame}\n`), close: () => stop(child) });
      });
      child.stdin?.on("error", () => {}); // its end is told by "close"
      child.stdout?.on("data", lineReader(message));
      child.on("close", (code, signal) => {
        const ending = signal ? `by ${signal}` : `with exit code ${code}`;
        const message = `${program} ended ${ending}${lastWords ? `: ${lastWords.trim()}` : ""}`;
        end = new NoDaemonError(message, {}, true);
        closed(end);
      });
    });
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    child.stdout?.destroy(); // somebody else may hold it open
    child.stderr?.destroy();
  }, killAfterMs);
  child.stdin?.end();
  child.kill("SIGTERM"); // what still runs is not waited for
  return ended.finally(() => clearTimeout(timer));
}
