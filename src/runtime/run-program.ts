// A program that answers and ends.
import { spawn } from "node:child_process";

export interface Answer {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** Rejects only where it cannot be started. */
export function runProgram(
  argv: readonly string[],
  { env, maxMs }: { env: Record<string, string | undefined>; maxMs: number },
): Promise<Answer> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
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
    child.on("error", (error) => reject(new Error(`${program} cannot be started: ${error.message}`)));
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}
