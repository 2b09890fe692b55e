// A program that answers and ends.
import { childProcesses } from "../util/lazy-modules.ts";

export interface Answer {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface RunLimits {
  env: Record<string, string | undefined>;
  /** It is killed then. */
  maxMs: number;
  signal?: AbortSignal;
}

/** Rejects only where it cannot be started. */
export function runProgram(argv: readonly string[], { env, maxMs, signal }: RunLimits): Promise<Answer> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = childProcesses().spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: env as NodeJS.ProcessEnv,
      timeout: maxMs,
      killSignal: "SIGKILL",
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    const kill = () => void child.kill("SIGKILL");
    signal?.addEventListener("abort", kill, { once: true });
    child.on("error", (error) => reject(new Error(`${program} cannot be started: ${error.message}`)));
    child.on("close", (exitCode) => {
      signal?.removeEventListener("abort", kill);
      resolve({ exitCode, stdout, stderr });
    });
  });
}
