// The screen process. It ends when the daemon does.

import { ScreenReader } from "../core/terminal/screen/screen-reader.ts";
import type { Work } from "../core/terminal/screen/work.ts";
import { dieWithParent } from "../platform/children.ts";

export function serveScreens(): Promise<never> {
  dieWithParent(); // a daemon that was killed can not end work that takes long
  const reader = new ScreenReader();
  // The daemon decides when it ends: a terminal that it was started from, or a ^C there, must not.
  for (const signal of ["SIGINT", "SIGHUP", "SIGQUIT"] as const) process.on(signal, () => {});
  process.on("message", (work: Work) => process.send!(reader.do(work)));
  process.on("disconnect", () => process.exit());
  return new Promise(() => {});
}
