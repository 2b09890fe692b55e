// Drains the daemon before an upgrade: while something lives that cannot be handed over, new sessions are refused and
// the drain waits for its end. It kills nothing.
import type { SessionRegistry } from "../core/session/registry.ts";
import { obstaclesIn } from "../core/session/upgrade-state.ts";
import type { Runtimes } from "../remote/runtimes.ts";

const pollMs = 100;

/** Whether running commands and terminals survive an upgrade on this platform. */
export const canHandOver = process.platform === "linux";

/** What has to end before the upgrade, in words for the reply and for the error. */
export function obstacles(registry: SessionRegistry, runtimes: Runtimes): string[] {
  const bound = runtimes.boundToProcess.map(({ name }) => `the runtime ${name} ends with this program`);
  return [...(canHandOver ? obstaclesIn(registry) : runningIn(registry)), ...bound];
}

function runningIn(registry: SessionRegistry): string[] {
  const running = registry.list().filter((session) => session.isRunning);
  return [
    ...running.map(
      ({ id }) => `session ${id} runs a command, which cannot be handed over on ${process.platform}`,
    ),
    ...registry.terminals.live.map(
      ({ id }) => `the terminal ${id} runs a program, which cannot be handed over on ${process.platform}`,
    ),
  ];
}

/** Resolves with undefined when nothing is in the way, or with the first obstacle when the timeout has passed. */
export async function drain(
  registry: SessionRegistry,
  runtimes: Runtimes,
  timeoutS: number,
): Promise<string | undefined> {
  const deadline = performance.now() + timeoutS * 1000;
  const setDraining = (isDraining: boolean) => {
    registry.isDraining = isDraining;
    registry.commands.isClosed = isDraining && !canHandOver;
  };
  setDraining(true);
  try {
    for (;;) {
      const [first] = obstacles(registry, runtimes);
      if (first === undefined) return undefined;
      if (performance.now() >= deadline) return first;
      await Bun.sleep(pollMs);
    }
  } finally {
    setDraining(false);
  }
}
