// One program takes the place of another, and the test sees it from outside.
import { afterAll, beforeAll } from "bun:test";
import { chmodSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary } from "./program.ts";
import { until } from "./wait.ts";
import { Wire } from "./wire.ts";

// The sampler of the stall guard stops the daemon's thread by signals. One of them that is under way when the daemon
// becomes another program ends that program. Stalls are still found, without their stacks.
beforeAll(() => {
  process.env["TRL_STALL_STACKS"] = "off";
});
afterAll(() => {
  delete process.env["TRL_STALL_STACKS"];
});

export interface Upgraded {
  socketPath: string;
  pid: number;
}

/** Asks for it and waits until it is over, however it went. */
export async function upgrade({ socketPath }: Upgraded, executable = binary) {
  using wire = await Wire.connect(socketPath);
  const before = (await wire.call("system.describe", {})).last_upgrade?.at;
  await wire.call("system.upgrade", { executable, drain_timeout_s: 20 });
  return await untilUpgraded({ socketPath }, before);
}

/** By the daemon's own account: there has been another one since. */
export const untilUpgraded = ({ socketPath }: Pick<Upgraded, "socketPath">, before: string | undefined) =>
  until("the end of the upgrade", async () => {
    try {
      using wire = await Wire.connect(socketPath);
      const { last_upgrade } = await wire.call("system.describe", {});
      return last_upgrade?.at === before ? undefined : last_upgrade;
    } catch {
      return undefined; // it was just changing hands
    }
  });

/** But for the list of its children, which stays open once it was looked at: that may be before or after an upgrade. */
export const descriptorsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((fd) => !linkOf(`/proc/${pid}/fd/${fd}`).endsWith("/children"))
    .length;

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // just closed
  }
}

export function script(dir: string, name: string, lines: string): string {
  const path = join(dir, name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}
