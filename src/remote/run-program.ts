// Runs a program to its end and collects its output.
import { childProcesses } from "../util/lazy-modules.ts";

export interface ProgramResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface ProgramOptions {
  env: Record<string, string | undefined>;
  /** The program is killed after this. */
  timeoutMs: number;
  /** Kills the program. */
  signal?: AbortSignal;
}

/** Rejects only if the program cannot be started. */
export function runProgram(argv: readonly string[], options: ProgramOptions): Promise<ProgramResult> {
  const { env, timeoutMs, signal } = options;
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = childProcesses().spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: env as NodeJS.ProcessEnv,
      timeout: timeoutMs,
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
