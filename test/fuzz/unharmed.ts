// That a daemon is none the worse for what it was sent: alive, of the same size, and with the same defaults as before.
import { expect } from "bun:test";
import type { TestDaemon } from "../support/daemon.ts";
import { isAlive, residentBytes } from "../support/processes.ts";
import { until } from "../support/wait.ts";
import { Wire } from "../support/wire.ts";

/** Keys that would change what the daemon does if they came to be everybody's. */
export const pollution = {
  timeout_s: 0.001,
  check: true,
  encoding: "base64",
  force: true,
  isAuthenticated: true,
  polluted: true,
  isolation: { limits: { pids: 1 } },
  env: { POLLUTED: "yes" },
  working_dir: "/nowhere",
  runtime: "moon",
};

const growthMaxBytes = 300e6;

export interface Before {
  description: unknown;
  bytes: number;
}

export async function before(daemon: TestDaemon): Promise<Before> {
  using wire = await Wire.connect(daemon.socketPath);
  return { description: await wire.call("system.describe", {}), bytes: residentBytes(daemon.pid) };
}

/** Somebody else is served, now. */
export async function expectServed(daemon: TestDaemon): Promise<void> {
  using wire = await Wire.connect(daemon.socketPath);
  expect(await wire.call("system.ping", {})).toHaveProperty("version");
}

export async function expectUnharmed(daemon: TestDaemon, { description, bytes }: Before): Promise<void> {
  expect(isAlive(daemon.pid)).toBeTrue();
  expect(daemon.log()).not.toContain("internal error");
  using wire = await Wire.connect(daemon.socketPath);
  expect(await wire.call("system.describe", {})).toEqual(description as never);
  await until("everybody else's leave", async () => (await wire.call("system.stats", {})).connections === 1);
  const { session_id } = await wire.call("session.create", {});
  const result = await wire.call("exec.run", {
    session_id,
    command: "sleep 0.02; echo plain $POLLUTED; exit 3",
  });
  expect(result).toMatchObject({ stdout: "plain\n", exit_code: 3, reason: "exit" });
  await wire.call("session.destroy", { session_id });
  // A listener that is opened by a key that everybody has would be open now.
  wire.sendFrame({ type: "ListSessions" });
  expect((await wire.frame(({ type }) => type !== undefined))["type"]).toBe("Error");
  expect(residentBytes(daemon.pid) - bytes).toBeLessThan(growthMaxBytes);
}
