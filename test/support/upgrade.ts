// Upgrades a test daemon, and waits for the result as a client sees it.
import { afterAll, beforeAll } from "bun:test";
import { chmodSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary } from "./program.ts";
import { until } from "./wait.ts";
import { Wire } from "./wire.ts";

// The sampler of the stall guard interrupts the daemon's thread by signals. A signal that is pending at the exec would
// kill the new program. Stalls are still found, without their stacks.
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

/** Requests an upgrade and waits for its end, successful or not. */
export async function upgrade({ socketPath }: Upgraded, executable = binary) {
  using wire = await Wire.connect(socketPath);
  const before = (await wire.call("system.describe", {})).last_upgrade?.at;
  await wire.call("system.upgrade", { executable, drain_timeout_s: 20 });
  return await untilUpgraded({ socketPath }, before);
}

/** Waits until the daemon reports another upgrade than the one at `before`. */
export const untilUpgraded = ({ socketPath }: Pick<Upgraded, "socketPath">, before: string | undefined) =>
  until("the end of the upgrade", async () => {
    try {
      using wire = await Wire.connect(socketPath);
      const { last_upgrade } = await wire.call("system.describe", {});
      return last_upgrade?.at === before ? undefined : last_upgrade;
    } catch {
      return undefined; // in the middle of the exec
    }
  });

/** Without the list of children, which stays open after its first use: that may be before or after an upgrade. */
export const descriptorsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((fd) => !linkOf(`/proc/${pid}/fd/${fd}`).endsWith("/children"))
    .length;

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // closed meanwhile
  }
}

export function script(dir: string, name: string, lines: string): string {
  const path = join(dir, name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}
