import { describe, expect, test } from "bun:test";
import { advance, type Phase } from "../../../../src/core/session/session.ts";
import { type SessionState, sessionStates } from "../../../../src/protocol/session.ts";

const ways: Record<SessionState, SessionState[]> = {
  creating: ["idle", "running", "terminated"],
  idle: ["running", "terminated"],
  running: ["idle", "terminated"],
  terminated: [],
};

const phase = (state: SessionState) => ({ state }) as Phase; // a running one's command does not matter here

describe("a session goes", () => {
  for (const from of sessionStates) {
    for (const to of sessionStates) {
      if (ways[from].includes(to)) {
        test(`from ${from} to ${to}`, () => {
          const next = phase(to);
          expect(advance(phase(from), next)).toBe(next);
        });
      } else {
        test(`never from ${from} to ${to}`, () => {
          expect(() => advance(phase(from), phase(to))).toThrow(`a session cannot go from ${from} to ${to}`);
        });
      }
    }
  }
});
