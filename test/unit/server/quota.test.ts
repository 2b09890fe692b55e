// Limits of one connection.
import { describe, expect, test } from "bun:test";
import { Quota } from "../../../src/server/quota.ts";

const limits = { sessions: 2, commands: 2, requests: 1, queuedBytes: 1 };
const make = (session_id: string) => () => ({ session_id });

describe("sessions of a connection", () => {
  test("are limited, and those that have ended do not count", async () => {
    const quota = new Quota(limits, "c1");
    const living = new Set(["a", "b"]);
    const exists = (id: string) => living.has(id);
    await quota.createSession(exists, make("a"));
    await quota.createSession(exists, make("b"));
    expect(() => quota.createSession(exists, make("c"))).toThrow("has made 2 sessions");
    living.delete("a");
    expect(await quota.createSession(exists, make("d"))).toEqual({ session_id: "d" });
  });

  test("that are being made count, and those that could not be made do not", async () => {
    const quota = new Quota({ ...limits, sessions: 1 }, "c1");
    const { promise, reject } = Promise.withResolvers<{ session_id: string }>();
    const first = quota.createSession(
      () => true,
      () => promise,
    );
    expect(() => quota.createSession(() => true, make("b"))).toThrow("has made 1 sessions");
    reject(new Error("no"));
    expect(first).rejects.toThrow("no");
    await Bun.sleep(0);
    expect(await quota.createSession(() => true, make("c"))).toEqual({ session_id: "c" });
  });

  test("are not limited by 0", async () => {
    const quota = new Quota({ ...limits, sessions: 0, commands: 0 }, "c1");
    for (let at = 0; at < 10; at++) await quota.createSession(() => true, make(`s${at}`));
    for (let at = 0; at < 10; at++) quota.runCommand(() => ({ started: at, ended: new Promise(() => {}) }));
  });
});

test("commands of a connection are limited until they have ended", async () => {
  const quota = new Quota(limits, "c1");
  const first = Promise.withResolvers<void>();
  const never = () => ({ started: 2, ended: new Promise(() => {}) });
  expect(quota.runCommand(() => ({ started: 1, ended: first.promise }))).toBe(1);
  quota.runCommand(never);
  expect(() => quota.runCommand(never)).toThrow("runs 2 commands");
  first.reject(new Error("ended somehow"));
  await Bun.sleep(0);
  expect(quota.runCommand(never)).toBe(2);
});
