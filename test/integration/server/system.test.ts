// system.*: what the daemon says of itself.
import { expect, test } from "bun:test";
import { errorCodes } from "../../../src/protocol/errors.ts";
import { methods } from "../../../src/protocol/methods.ts";
import { startDaemon } from "../../support/daemon.ts";

test("system.describe derives from the table", async () => {
  await using daemon = await startDaemon({ flags: ["--max-sessions", "7"] });
  using wire = await daemon.connect();
  const described = await wire.call("system.describe", {});
  expect(Object.keys(described.methods)).toEqual(Object.keys(methods));
  expect(described.methods["exec.run"]?.params).toMatchObject({
    type: "object",
    required: ["session_id", "command"],
    properties: { command: { type: "string" }, timeout_s: { type: "number", minimum: 0 } },
  });
  expect(described.error_codes).toEqual(errorCodes);
  expect(described).toMatchObject({
    protocol_version: 1,
    limits: { max_sessions: 7 },
    platform: { os: process.platform },
  });
});

test("system.ping counts whole seconds", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const { uptime_s, version } = await wire.call("system.ping", {});
  expect(Number.isInteger(uptime_s)).toBe(true);
  expect(version).toBe((await import("../../../package.json")).version);
});

test("system.upgrade refuses what is no program, and nothing happens", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  for (const executable of ["/nonexistent", "/etc/passwd", "/tmp"]) {
    const { code, message } = await wire.fail("system.upgrade", { executable });
    expect([code, message]).toEqual([
      "INVALID_PARAMS",
      `executable: ${executable} is no program that can be started`,
    ]);
  }
  expect(await wire.call("system.stats", {})).toMatchObject({ upgrades: 0 });
});
