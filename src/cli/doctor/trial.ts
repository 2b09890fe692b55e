// Checks shells and terminal drivers by using each of them in a temporary daemon.

import { driverNames } from "../../protocol/pty.ts";
import type { DaemonClient } from "../client.ts";
import { startTemporaryDaemon } from "../temporary-daemon.ts";
import { type Check, type CheckReport, type Finding, note, ok, problem, runChecks } from "./check.ts";

/** Longer than the default: each check starts a shell or a terminal. */
const timeoutMs = 5000;
const shells = ["bash", "zsh", "sh", "dash", "fish"] as const;

export async function tryDaemon(): Promise<CheckReport[]> {
  try {
    await using daemon = await startTemporaryDaemon();
    return await runChecks(checksWith(daemon.client));
  } catch (error) {
    const run = () => problem((error as Error).message, { remedy: "see why with: trl serve --verbose" });
    return await runChecks([{ id: "start", group: "daemon", run }]);
  }
}

const checksWith = (client: DaemonClient): Check[] => [
  ...shells.map((name) => ({
    id: `shell-${name}`,
    group: "shells",
    timeoutMs,
    run: () => checkShell(client, name),
  })),
  ...driverNames.map((name) => ({
    id: `driver-${name}`,
    group: "terminals",
    timeoutMs,
    run: () => checkDriver(client, name),
  })),
];

async function checkShell(client: DaemonClient, name: (typeof shells)[number]): Promise<Finding> {
  const path = Bun.which(name);
  if (!path) return missing[name];
  const trouble = (what: string) =>
    problem(`${path} does not work: ${what}`, { remedy: `try it yourself: ${path}` });
  try {
    const { session_id, stateful, stateful_reason } = await client.call("session.create", { shell: path });
    const run = (command: string) =>
      client.call("exec.run", { session_id, command, timeout_s: timeoutMs / 1000 });
    if (stateful) await run("trl_doctor=works");
    const { stdout } = await run(stateful ? 'echo "$trl_doctor"' : "echo works");
    if (stdout !== "works\n") return trouble(`it said ${JSON.stringify(stdout)}`);
    if (stateful) return ok(`${path} keeps its state from command to command`);
    return note(`${path} runs commands, but keeps no state from one to the next`, {
      ...(stateful_reason === undefined ? {} : { detail: stateful_reason }),
      remedy: "for cd, variables and functions that stay: a session with bash, zsh or sh",
    });
  } catch (error) {
    return trouble((error as Error).message);
  }
}

const missing: Record<(typeof shells)[number], Finding> = {
  bash: note("bash is not installed: the default shell is /bin/sh", { remedy: "install bash" }),
  sh: problem("there is no sh on the PATH", { remedy: "set PATH so that /bin is in it" }),
  zsh: ok("zsh is not installed"),
  dash: ok("dash is not installed"),
  fish: ok("fish is not installed"),
};

const word = "trl-doctor";

async function checkDriver(client: DaemonClient, driver: (typeof driverNames)[number]): Promise<Finding> {
  try {
    const { session_id } = await client.call("pty.create", { driver, command: "cat", args: [] });
    await client.call("pty.write", { session_id, data: `${word}\r` });
    const until = { text: word };
    const { matched } = await client.call("pty.wait", { session_id, until, timeout_s: timeoutMs / 1000 });
    await client.call("pty.close", { session_id });
    return matched === "text"
      ? ok(`${driver}: a terminal was made and echoes`)
      : broken(driver, "no echo came");
  } catch (error) {
    return broken(driver, (error as Error).message);
  }
}

/** The first driver is the default; a failure of another matters only with --pty-driver. */
function broken(driver: (typeof driverNames)[number], why: string): Finding {
  if (driver === driverNames[0]) {
    const remedy = "is /dev/ptmx there, and /dev/pts mounted? In a container it may be missing";
    return problem(`${driver}: no terminal could be made: ${why}`, { remedy });
  }
  const remedy = "nothing is to be done unless you ask for it with --pty-driver";
  return note(`${driver}: no terminal could be made: ${why}`, { remedy });
}
