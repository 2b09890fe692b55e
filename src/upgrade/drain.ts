// Where something cannot be handed over, nothing new is begun until it has ended by itself. Nothing is ever killed for it.

import type { SessionRegistry } from "../core/session/registry.ts";
import { obstaclesIn } from "../core/session/upgrade-state.ts";
import type { Runtimes } from "../remote/runtimes.ts";

const lookMs = 100;

/** Whether a program can take another's place here while commands run. */
export const canHandOver = process.platform === "linux";

/** What must have ended before. */
export function obstacles(registry: SessionRegistry, runtimes: Runtimes): string[] {
  const bound = runtimes.boundToProcess.map(({ name }) => `the runtime ${name} ends with this program`);
  return [...(canHandOver ? obstaclesIn(registry) : everythingIn(registry)), ...bound];
}

function everythingIn(registry: SessionRegistry): string[] {
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

/** Undefined when nothing is in the way any more; else what still was when the time was over. */
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
      await Bun.sleep(lookMs);
    }
  } finally {
    setDraining(false);
  }
}
