// A program that the daemon runs for its own purposes, to learn how it ends and what it complains about. It is in
// custody like any other, or it would be taken for an orphan.

import { sendSignal } from "../../platform/process-table.ts";
import { helperPatienceMs } from "../limits.ts";
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
  patienceMs?: number;
}

/** What its output may take after its end, should something hold it open. */
const drainMs = 100;

export async function runHelper(
  ownership: ProcessOwnership,
  { argv, cwd, env, patienceMs = helperPatienceMs }: HelperSpec,
): Promise<HelperResult> {
  requireDescriptors();
  const child = Bun.spawn(argv, { cwd, env, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  ownership.addRoot(child.pid, { sessionId: "" });
  const timer = setTimeout(() => sendSignal(-child.pid, "SIGKILL"), patienceMs);
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
