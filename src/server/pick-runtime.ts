// Picks a runtime by labels: of those that have all the labels and can be reached, the one that runs the fewest
// commands.
import type { SessionRegistry } from "../core/session/registry.ts";
import { TrlError } from "../protocol/errors.ts";
import { hostRuntime } from "../protocol/runtime.ts";
import { listTimeoutMs } from "../remote/limits.ts";
import type { Runtime } from "../remote/runtime.ts";
import type { Runtimes } from "../remote/runtimes.ts";

export interface PickServices {
  runtimes: Runtimes;
  registry: SessionRegistry;
  /** Labels of this daemon. */
  labels: readonly string[];
}

/** `only` is the runtime that the client has named; it must have the labels, too. */
export async function pickRuntime(
  { runtimes, registry, labels }: PickServices,
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
  const ready = choices.filter(({ running }) => running !== undefined);
  // If no runtime has answered yet, wait for the first that does: it may have to be started or provisioned.
  const best =
    ready.toSorted((a, b) => a.running! - b.running!)[0] ??
    (await Promise.any(counts).catch(() => undefined));
  if (best) return best.it;
  throw candidates[0]!.unavailable(false);
}

interface Choice {
  it: Runtime | typeof hostRuntime;
  /** Running commands; undefined until the runtime has answered. */
  running: number | undefined;
}

const runningIn = (registry: SessionRegistry): number =>
  registry.list().filter((session) => session.isRunning).length;
