// A runtime by what is needed of it: one that has all the labels, can be reached, and has the least to do.
import type { SessionRegistry } from "../core/session/registry.ts";
import { TrlError } from "../protocol/errors.ts";
import { hostRuntime } from "../protocol/runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Runtimes } from "../runtime/runtimes.ts";

export interface Choice {
  runtimes: Runtimes;
  registry: SessionRegistry;
  labels: readonly string[];
}

/** `only`, where the client has named one: it must have the labels, too. */
export async function pickRuntime(
  { runtimes, registry, labels }: Choice,
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
  const counted = await Promise.all(
    candidates.map(async (it) => ({ it, running: await runtimes.runningCommands(it) })),
  );
  const running = registry.list().filter((session) => session.isRunning).length;
  const choices: { it: Runtime | typeof hostRuntime; running: number }[] = [
    ...(isHostFit ? [{ it: hostRuntime, running } as const] : []),
    ...counted.flatMap((choice) =>
      choice.running === undefined ? [] : [{ it: choice.it, running: choice.running }],
    ),
  ];
  const best = choices.toSorted((a, b) => a.running - b.running)[0];
  if (best) return best.it;
  throw candidates[0]!.unavailable(false);
}
