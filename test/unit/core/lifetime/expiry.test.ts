// When a session is cleaned up.
import { describe, expect, test } from "bun:test";
import { earliestEnd, expiryFields, expiryOf, isOver } from "../../../../src/core/lifetime/expiry.ts";
import { Instant, steadyMs } from "../../../../src/core/lifetime/instant.ts";

/** By a wall clock and a steady one that agree. */
const at = (time: string, steady = Date.parse(time) - Date.parse("2026-01-01T00:00:00Z")) =>
  new Instant(Date.parse(time), steady);
const createdAt = at("2026-01-01T00:00:00Z");
const lastActivity = at("2026-01-01T01:00:00Z");
const lifetime = { createdAt, lastActivity, idleTimeoutS: 60, maxAgeS: 7200, isInUse: false };
const now = at("2026-01-01T01:00:30Z");

describe("a session expires", () => {
  test("by idle time or age, whichever comes first", () => {
    expect(expiryOf(lifetime, now)).toEqual({
      ...{ at: new Date("2026-01-01T01:01:00Z"), leftMs: 30_000, by: "idle" },
    });
    expect(expiryOf({ ...lifetime, maxAgeS: 3601 }, now)).toEqual({
      ...{ at: new Date("2026-01-01T01:00:01Z"), leftMs: -29_000, by: "age" },
    });
  });

  test("not by idle time while it is in use", () => {
    expect(expiryOf({ ...lifetime, isInUse: true }, now)?.by).toBe("age");
  });

  test("never without a limit", () => {
    expect(expiryOf({ ...lifetime, idleTimeoutS: 0, maxAgeS: 0 }, now)).toBeUndefined();
    expect(expiryFields(undefined)).toEqual({ expires_at: null, expires_by: null });
  });

  test("at the last date that can be represented, if the limit is later", () => {
    const expiry = expiryOf({ ...lifetime, idleTimeoutS: 1e300, maxAgeS: 0 }, now);
    expect(expiryFields(expiry)).toEqual({ expires_at: "+275760-09-13T00:00:00.000Z", expires_by: "idle" });
    expect(isOver(expiry)).toBeFalse();
  });

  test("when the time has passed", () => {
    expect(isOver(expiryOf(lifetime, at("2026-01-01T01:01:00Z")))).toBeTrue();
    expect(isOver(expiryOf(lifetime, at("2026-01-01T01:00:59.999Z")))).toBeFalse();
    expect(isOver(undefined)).toBeFalse();
  });
});

describe("the wall clock is set", () => {
  const steady = now.steadyMs;

  test.each([
    ["two days ahead", "2026-01-03T01:00:30Z", "2026-01-03T01:01:00.000Z"],
    ["two days back", "2025-12-30T01:00:30Z", "2025-12-30T01:01:00.000Z"],
    ["by half a second, which is none", "2026-01-01T01:00:30.500Z", "2026-01-01T01:01:00.000Z"],
  ])("%s: the expiry does not move, and is displayed in the new time", (_, wall, expires_at) => {
    const expiry = expiryOf(lifetime, at(wall, steady));
    expect(expiry?.leftMs).toBe(30_000);
    expect(expiryFields(expiry)).toEqual({ expires_at, expires_by: "idle" });
  });

  test("the next check is due on the steady clock", () => {
    expect(earliestEnd(lifetime)).toBe(lastActivity.steadyMs + 60_000);
    expect(earliestEnd({ ...lifetime, idleTimeoutS: 0 })).toBe(7_200_000);
  });
});

describe("an instant with a wall time only", () => {
  test("is as old as the wall clock says", () => {
    const age = steadyMs() - new Instant(Date.now() - 5000).steadyMs;
    expect(age).toBeGreaterThanOrEqual(4990);
    expect(age).toBeLessThan(60_000);
  });

  test("and is never in the future", () => {
    expect(new Instant(Date.now() + 86_400_000).steadyMs).toBeLessThanOrEqual(steadyMs());
  });
});
