// The states of the upgrader: idle, upgrading, stopped.
import { describe, expect, test } from "bun:test";
import { Upgrader, type UpgradeServices } from "../../../src/upgrade/upgrader.ts";
import { version } from "../../../src/util/version.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const upgraderWith = (services: Partial<UpgradeServices> = {}) =>
  new Upgrader({ isStdin: false, ...services } as UpgradeServices, log);
const begin = (upgrader: Upgrader, executable = "/bin/sh") => upgrader.begin({ executable }, () => {});

describe("an upgrade is refused", () => {
  test("for a path without a program", async () => {
    await expect(begin(upgraderWith(), "/nonexistent")).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  });

  test("on standard input", async () => {
    await expect(begin(upgraderWith({ isStdin: true }))).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });

  test("while the daemon is stopping, also by SIGHUP", async () => {
    const upgrader = upgraderWith();
    upgrader.stop();
    await expect(begin(upgrader)).rejects.toMatchObject({
      code: "SESSION_BUSY",
      message: "the daemon is stopping",
    });
    expect(upgrader.hungUp()).toBe(false);
  });
});

describe("after the exec", () => {
  const environment = { parcelFd: 3, programFd: 4, descriptors: [], argv: ["trl"], version: "0.0.1" };

  test("a takeover counts", () => {
    const upgrader = upgraderWith();
    upgrader.recordTakeover({ ...environment, kind: "forth" }, 2);
    expect(upgrader.count).toBe(3);
    expect(upgrader.last).toMatchObject({ ok: true, from_version: "0.0.1", to_version: version });
  });

  test("a rollback does not, and keeps the reason", () => {
    const upgrader = upgraderWith();
    const failed = { failure: "no memory", failedVersion: "9.9.9" };
    upgrader.recordTakeover({ ...environment, kind: "back", ...failed }, 2);
    expect(upgrader.count).toBe(2);
    expect(upgrader.last).toMatchObject({ ok: false, reason: "no memory", to_version: "9.9.9" });
  });
});
