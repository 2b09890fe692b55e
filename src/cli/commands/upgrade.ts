// trl upgrade: replaces the executable of the running daemon.
import { resolve } from "node:path";
import { type ArgsDef, defineCommand } from "citty";
import type { LastUpgrade, UpgradeResult } from "../../protocol/system.ts";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { connect, socketArgs, socketPathFrom, tryConnect } from "../connection.ts";
import { CliError } from "../errors.ts";
import { secondsFrom } from "../numbers.ts";
import { jsonArgs, note, print, printJson } from "../ui/print.ts";
import { withProgress } from "../ui/progress.ts";

const args = {
  ...socketArgs,
  executable: {
    type: "string",
    valueHint: "PATH",
    description: "The program that is to run the daemon (this one)",
  },
  "drain-timeout-s": {
    type: "string",
    valueHint: "N",
    description: "How long to wait for what cannot be handed over (60)",
  },
  ...jsonArgs,
} as const satisfies ArgsDef;

const defaultDrainS = 60;
/** Added to the drain timeout: time for the switch itself. */
const switchTimeoutS = 20;
const pollMs = 50;

export default defineCommand({
  meta: {
    name: "upgrade",
    description: "Have this program take over the running daemon, and all that it runs",
  },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    refuseWords(given._);
    const socketPath = socketPathFrom(given);
    const drainS = secondsFrom("--drain-timeout-s", given["drain-timeout-s"] ?? String(defaultDrainS));
    const executable = resolve(given.executable ?? process.execPath);
    const begun = await begin(socketPath, executable, drainS);
    if (!given.json) for (const what of begun.waits_for) note(`waiting: ${what}`);
    const outcome = untilFinished(socketPath, begun.began, drainS + switchTimeoutS);
    const { last, sessions, upgrades } = await withProgress("handing the daemon over", outcome);
    if (!last.ok) throw new CliError(`the daemon goes on as it was: ${last.reason}`, 1);
    const { pid, from_version, to_version } = begun;
    if (given.json) printJson({ pid, from_version, to_version, upgrades, sessions });
    else
      print(`trl ${from_version} -> ${to_version}, pid ${pid}: ${sessions} sessions and terminals go on\n`);
  },
});

async function begin(
  socketPath: string,
  executable: string,
  drainS: number,
): Promise<UpgradeResult & { began: string | undefined }> {
  using client = await connect(socketPath);
  const { last_upgrade } = await client.call("system.describe", {});
  const begun = await client.call("system.upgrade", { executable, drain_timeout_s: drainS });
  return { ...begun, began: last_upgrade?.at };
}

interface Outcome {
  last: LastUpgrade;
  sessions: number;
  upgrades: number;
}

/** Polls `last_upgrade` until it differs from the one before. */
async function untilFinished(
  socketPath: string,
  before: string | undefined,
  timeoutS: number,
): Promise<Outcome> {
  const deadline = performance.now() + timeoutS * 1000;
  for (;;) {
    const finished = await poll(socketPath, before).catch(() => undefined); // not reachable during the switch
    if (finished) return finished;
    if (performance.now() > deadline)
      throw new CliError(`the upgrade did not finish within ${timeoutS} s`, 1, "its log says more");
    await Bun.sleep(pollMs);
  }
}

async function poll(socketPath: string, before: string | undefined): Promise<Outcome | undefined> {
  using client = await tryConnect(socketPath);
  if (!client) return undefined;
  const { last_upgrade: last } = await client.call("system.describe", {});
  if (!last || last.at === before) return undefined;
  const { active_sessions: sessions, upgrades } = await client.call("system.stats", {});
  return { last, sessions, upgrades };
}
