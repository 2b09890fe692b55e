// A carrier over the standard input and output of a command: `trl --stdin`, or the same through ssh or docker.
// The command, and the daemon in it, live as long as the carrier.
import { type ChildProcess, spawn } from "node:child_process";
import { type Carrier, NoDaemonError, type OpenCarrier } from "./carrier.ts";
import { lineReader } from "./lines.ts";

export interface ChildTarget {
  /** The program and its arguments. */
  command: readonly string[];
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** `inherit` writes its log to our standard error. With `ignore`, its last lines are part of the error if it ends. */
  stderr?: "ignore" | "inherit";
}

/** Time to end its sessions, with all processes in them. */
const killAfterMs = 10_000;
/** Standard error that becomes part of the error message. */
const stderrTailChars = 2000;

export function childCarrier({ command, env, cwd, stderr = "ignore" }: ChildTarget): OpenCarrier {
  /** Set when the command was started: a second process would know nothing of the sessions of the first. */
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
      let stderrTail = "";
      child.stderr?.on("data", (chunk: Buffer) => {
        stderrTail = (stderrTail + chunk.toString()).slice(-stderrTailChars);
      });
      child.on("error", (error) =>
        reject(new NoDaemonError(`${program} cannot be started: ${error.message}`)),
      );
      child.on("spawn", () => {
        end = new NoDaemonError(`${program} was stopped`, {}, true);
        resolve({ send: (frame) => void child.stdin?.write(`${frame}\n`), close: () => stop(child) });
      });
      child.stdin?.on("error", () => {}); // "close" reports the end
      child.stdout?.on("data", lineReader(message));
      child.on("close", (code, signal) => {
        const ending = signal ? `by ${signal}` : `with exit code ${code}`;
        const message = `${program} ended ${ending}${stderrTail ? `: ${stderrTail.trim()}` : ""}`;
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
    child.stdout?.destroy(); // another process may hold the pipe open
    child.stderr?.destroy();
  }, killAfterMs);
  child.stdin?.end();
  child.kill("SIGTERM"); // the end of running commands is not awaited
  return ended.finally(() => clearTimeout(timer));
}
