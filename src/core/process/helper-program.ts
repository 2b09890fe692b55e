// Runs a program for the daemon's own purposes and collects its exit code and stderr. The process is owned like any other:
// otherwise its ownership would adopt it as an orphan.

import { sendSignal } from "../../platform/process-table.ts";
import { helperTimeoutMs } from "../limits.ts";
import { requireDescriptors } from "../resources.ts";
import type { ProcessOwnership } from "./ownership.ts";

export interface HelperResult {
  exitCode: number;
  signal: string | null;
  stderr: string;
}

export interface HelperSpec {
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  timeoutMs?: number;
}

/** The longest wait for the end of stderr after the exit: a background process may hold it open. */
const drainMs = 100;

export async function runHelper(
  ownership: ProcessOwnership,
  { argv, cwd, env, timeoutMs = helperTimeoutMs }: HelperSpec,
): Promise<HelperResult> {
  requireDescriptors();
  const child = Bun.spawn(argv, { cwd, env, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  ownership.addRoot(child.pid, { sessionId: "" });
  const timer = setTimeout(() => sendSignal(-child.pid, "SIGKILL"), timeoutMs);
  let stderr = "";
  const read = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) stderr += decoder.decode(chunk, { stream: true });
  })();
  const exitCode = await child.exited;
  clearTimeout(timer);
  await Promise.race([read, Bun.sleep(drainMs)]);
  sendSignal(-child.pid, "SIGKILL");
  await ownership.removeRoot(child.pid);
  return { exitCode, signal: child.signalCode as string | null, stderr: stderr.trim() };
}
