// Can the daemon be started at login here, and does it stay after logout?

import { type Finding, note, ok } from "./check.ts";
import { ask } from "./query.ts";

export async function checkSystemd(): Promise<Finding> {
  const answer = await ask("systemctl", "--user", "show-environment");
  if (answer?.code !== 0) {
    const detail = "trl service install cannot start anything here; trl new starts a daemon by itself";
    return note(answer ? "there is no systemd session of this user" : "systemd is not installed", { detail });
  }
  const linger = await ask(
    "loginctl",
    "show-user",
    String(process.getuid?.()),
    "--property=Linger",
    "--value",
  );
  if (linger?.out.trim() !== "no") return ok("systemd can keep the daemon, also when you are logged out");
  const detail = "lingering is off: a service of this user ends at logout";
  return note("systemd can keep the daemon while you are logged in", {
    detail,
    remedy: "loginctl enable-linger",
  });
}
