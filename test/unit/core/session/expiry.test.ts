// When a session is cleaned up.
import { describe, expect, test } from "bun:test";
import { expiryFields, expiryOf, isOver } from "../../../../src/core/session/expiry.ts";

const createdAt = new Date("2026-01-01T00:00:00Z");
const lastActivity = new Date("2026-01-01T01:00:00Z");
const lifetime = { createdAt, lastActivity, idleTimeoutS: 60, maxAgeS: 7200, isInUse: false };

describe("a session ends", () => {
  test("when it has been idle, or is old, whatever comes first", () => {
    expect(expiryOf(lifetime)).toEqual({ at: new Date("2026-01-01T01:01:00Z"), by: "idle" });
    expect(expiryOf({ ...lifetime, maxAgeS: 3601 })).toEqual({
      at: new Date("2026-01-01T01:00:01Z"),
      by: "age",
    });
  });

  test("not by being idle while it is in use", () => {
    expect(expiryOf({ ...lifetime, isInUse: true })?.by).toBe("age");
  });

  test("never, where there is no limit", () => {
    expect(expiryOf({ ...lifetime, idleTimeoutS: 0, maxAgeS: 0 })).toBeUndefined();
    expect(expiryFields(undefined)).toEqual({ expires_at: null, expires_by: null });
  });

  test("after more time than there is, at the end of time", () => {
    const expiry = expiryOf({ ...lifetime, idleTimeoutS: 1e300, maxAgeS: 0 });
    expect(expiryFields(expiry)).toEqual({ expires_at: "+275760-09-13T00:00:00.000Z", expires_by: "idle" });
    expect(isOver(expiry)).toBeFalse();
  });

  test("once that moment has come", () => {
    expect(isOver(expiryOf(lifetime))).toBeTrue();
    expect(isOver(expiryOf({ ...lifetime, lastActivity: new Date(), maxAgeS: 0 }))).toBeFalse();
    expect(isOver(undefined)).toBeFalse();
  });
});
