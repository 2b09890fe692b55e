// Checks of macOS: limits, sandbox-exec and launchd.
import { type Check, type Finding, note, ok } from "./check.ts";
import { type Limits, limitChecks } from "./limits.ts";
import { absent, ask, late, why } from "./query.ts";

export const darwinChecks = (): Check[] => [
  ...limitChecks(limitsDarwin),
  { id: "sandbox-exec", group: "isolation", run: checkSandboxExec },
  { id: "launchd", group: "service", run: checkLaunchd },
];

/** macOS has no file with the limits; its sh is bash, which prints both. */
async function limitsDarwin(): Promise<Limits> {
  const answer = await ask("sh", "-c", "ulimit -n; ulimit -u");
  const [openFiles, processes] = (answer?.out ?? "").trim().split("\n").map(countOf);
  if (openFiles === undefined || processes === undefined) throw new Error("sh printed no limits");
  return { openFiles, processes };
}

const countOf = (text: string) => (text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text));

async function checkSandboxExec(): Promise<Finding> {
  const answer = await ask("sandbox-exec", "-p", "(version 1)(allow default)", "/usr/bin/true");
  if (!answer) return absent("sandbox-exec", "it comes with macOS");
  if (answer.isLate) return late("sandbox-exec");
  return answer.code === 0
    ? ok("sandbox-exec works")
    : note(`sandbox-exec does not work here: ${why(answer)}`);
}

/** Whether launchd can start the daemon at login. */
async function checkLaunchd(): Promise<Finding> {
  const answer = await ask("launchctl", "print", `gui/${process.getuid?.()}`);
  if (answer?.code === 0) return ok("launchd can keep the daemon");
  return note("launchd has no session of this user at the screen", {
    detail: "trl service install cannot start anything from here",
    remedy: "log in at the screen, or start trl serve yourself",
  });
}
