// Load for measurements on a busy machine.
import { leaving } from "./leavings.ts";

/**
 * Each loop is in a session of its own, as other work of the machine is. Linux divides the processors among sessions
 * first (autogroups): loops in the session of the bare spawns would take from the daemon alone.
 */
export function busyLoops(count: number): Disposable {
  const loops = Array.from({ length: count }, () => {
    const child = Bun.spawn(["/bin/sh", "-c", "while :; do :; done"], {
      stdio: ["ignore", "ignore", "ignore"],
      detached: true,
    });
    return { child, isGone: leaving(() => child.kill("SIGKILL")) };
  });
  return {
    [Symbol.dispose]() {
      for (const { child, isGone } of loops) {
        child.kill("SIGKILL");
        isGone();
      }
    },
  };
}
