// Checks of Linux: limits, control groups, bubblewrap and systemd.
import { readOwnLimits } from "../../platform/own-process.ts";
import { checkCgroups } from "./cgroups-linux.ts";
import { type Check, type Finding, note, ok } from "./check.ts";
import { type Limits, limitChecks } from "./limits.ts";
import { absent, ask, late, why } from "./query.ts";

export const linuxChecks = (): Check[] => [
  ...limitChecks(limitsLinux),
  { id: "cgroups", group: "isolation", run: checkCgroups },
  { id: "bubblewrap", group: "isolation", run: checkBubblewrap },
  { id: "systemd", group: "service", run: checkSystemd },
];

function limitsLinux(): Limits {
  const limits = readOwnLimits();
  if (!limits) throw new Error("could not read the limits of this process");
  return limits;
}

async function checkBubblewrap(): Promise<Finding> {
  const answer = await ask("bwrap", "--ro-bind", "/", "/", "--unshare-pid", "true");
  if (!answer)
    return absent("bubblewrap", "it can give programs a file system and a process table of their own");
  if (answer.isLate) return late("bwrap");
  if (answer.code === 0) return ok("bubblewrap works");
  return note(`bubblewrap does not work here: ${why(answer)}`, {
    remedy:
      "it needs user namespaces; see kernel.unprivileged_userns_clone and AppArmor's restrictions on them",
  });
}

/** Whether systemd can start the daemon at login and keep it after logout. */
async function checkSystemd(): Promise<Finding> {
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
