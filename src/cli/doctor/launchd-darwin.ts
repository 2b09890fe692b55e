// Can the daemon be started at login here?

import { type Finding, note, ok } from "./check.ts";
import { ask } from "./query.ts";

export async function checkLaunchd(): Promise<Finding> {
  const answer = await ask("launchctl", "print", `gui/${process.getuid?.()}`);
  if (answer?.code === 0) return ok("launchd can keep the daemon");
  return note("launchd has no session of this user at the screen", {
    detail: "trl service install cannot start anything from here",
    remedy: "log in at the screen, or start trl serve yourself",
  });
}
