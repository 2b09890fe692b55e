import type { Limits } from "./limits.ts";
import { ask } from "./query.ts";

/** macOS has no file that tells them; its sh is a bash, which knows both. */
export async function limitsDarwin(): Promise<Limits> {
  const answer = await ask("sh", "-c", "ulimit -n; ulimit -u");
  const [openFiles, processes] = (answer?.out ?? "").trim().split("\n").map(countOf);
  if (openFiles === undefined || processes === undefined) throw new Error("sh did not tell them");
  return { openFiles, processes };
}

const countOf = (text: string) => (text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text));
