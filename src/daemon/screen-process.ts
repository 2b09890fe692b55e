// Entry of the screen process, which renders terminal screens for the daemon. It ends when the daemon does.
import { ScreenReader } from "../core/terminal/screen/screen-reader.ts";
import type { Work } from "../core/terminal/screen/work.ts";
import { dieWithParent } from "../platform/children.ts";

export function serveScreens(): Promise<never> {
  dieWithParent(); // a long rendering would otherwise outlive a killed daemon
  const reader = new ScreenReader();
  // Only the daemon ends this process: not a ^C, or the end, of the terminal that the daemon was started from.
  for (const signal of ["SIGINT", "SIGHUP", "SIGQUIT"] as const) process.on(signal, () => {});
  process.on("message", (work: Work) => process.send!(reader.do(work)));
  process.on("disconnect", () => process.exit());
  return new Promise(() => {});
}
