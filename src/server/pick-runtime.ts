// A runtime by what is needed of it: one that has all the labels, can be reached, and has the least to do.
import type { SessionRegistry } from "../core/session/registry.ts";
import { TrlError } from "../protocol/errors.ts";
import { hostRuntime } from "../protocol/runtime.ts";
import { listTimeoutMs } from "../remote/limits.ts";
import type { Runtime } from "../remote/runtime.ts";
import type { Runtimes } from "../remote/runtimes.ts";

export interface SessionPaths {
  runtimes: Runtimes;
  registry: SessionRegistry;
  labels: readonly string[];
}

/** `only`, where the client has named one: it must have the labels, too. */
export async function pickRuntime(
  { runtimes, registry, labels }: SessionPaths,
  needs: readonly string[],
  only: string | undefined,
): Promise<Runtime | typeof hostRuntime> {
  const isFit = (own: readonly string[]) => needs.every((label) => own.includes(label));
  const named = only === undefined || only === hostRuntime ? undefined : runtimes.get(only);
  const candidates = (named ? [named] : runtimes.all).filter(
    (it) => only !== hostRuntime && isFit(it.labels),
  );
  const isHostFit = isFit(labels) && (only === undefined || only === hostRuntime);
  if (candidates.length === 0 && !isHostFit)
    throw new TrlError(
      "RUNTIME_NOT_FOUND",
      `needs: no runtime${only ? ` "${only}"` : ""} has ${needs.join(", ")}`,
    );
  const choices = candidates.map((it): Choice => ({ it, running: undefined }));
  const counts = choices.map(async (choice) => {
    choice.running = (await (choice.it as Runtime).ask("system.stats", {})).running_commands;
    return choice;
  });
  await Promise.race([Promise.allSettled(counts), Bun.sleep(listTimeoutMs)]);
  if (isHostFit) choices.unshift({ it: hostRuntime, running: runningIn(registry) });
  const atHand = choices.filter(({ running }) => running !== undefined);
  // Where nobody is, one that must be started first, or is given the executable, is waited for.
  const best =
    atHand.toSorted((a, b) => a.running! - b.running!)[0] ??
    (await Promise.any(counts).catch(() => undefined));
  if (best) return best.it;
  throw candidates[0]!.unavailable(false);
}

interface Choice {
  it: Runtime | typeof hostRuntime;
  /** Commands; undefined until it has answered. */
  running: number | undefined;
}

const runningIn = (registry: SessionRegistry): number =>
  registry.list().filter((session) => session.isRunning).length;
