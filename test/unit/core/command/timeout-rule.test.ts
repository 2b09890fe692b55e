import { describe, expect, test } from "bun:test";
import { effectiveTimeoutS } from "../../../../src/core/command/timeout-rule.ts";

describe("a Cursor agent command gets at least 600 s:", () => {
  const commands = [
    "cursor agent",
    "cursor agent fix the tests",
    "cursor   agent --print x",
    "cursor-agent",
    "cursor-agent --model x",
    'agent "fix the tests"',
    "agent 'fix the tests'",
    "agent --print",
    "agent --print x",
    "agent --workspace /srv",
    "agent --workspace=/srv",
    '  agent  "x"',
    "\ncursor\tagent x",
  ];
  for (const command of commands) {
    test(JSON.stringify(command), () => {
      expect(effectiveTimeoutS(command, undefined, 60)).toBe(600);
      expect(effectiveTimeoutS(command, undefined, 900)).toBe(900);
    });
  }
});

describe("near misses get the session's:", () => {
  const commands = [
    'agentx "fix"',
    'my-agent "fix"',
    "agent",
    "agent fix",
    "agent -p x",
    "agent --printer",
    "agent --workspaces",
    'agent"x"',
    "cursor agents",
    "cursor agent-x",
    "cursor",
    "cursor-agents",
    "cursor-agent-x",
    "cursoragent x",
    "echo cursor agent",
    "echo cursor-agent x",
    "echo agent 'x'",
    'CURSOR AGENT "x"',
    "",
  ];
  for (const command of commands) {
    test(JSON.stringify(command), () => expect(effectiveTimeoutS(command, undefined, 60)).toBe(60));
  }

  test("a flag that only begins like one of them", () => {
    expect(effectiveTimeoutS("agent --print-config", undefined, 60)).toBe(60);
  });
});

describe("an explicit limit wins,", () => {
  test("shorter or longer", () => {
    expect(effectiveTimeoutS("cursor agent x", 5, 60)).toBe(5);
    expect(effectiveTimeoutS("true", 3600, 60)).toBe(3600);
  });

  test("and 0 means none", () => {
    expect(effectiveTimeoutS("true", 0, 60)).toBe(0);
    expect(effectiveTimeoutS("cursor agent x", 0, 60)).toBe(0);
  });
});

test("a session without a limit has none for an agent either", () => {
  expect(effectiveTimeoutS("cursor agent x", undefined, 0)).toBe(0);
  expect(effectiveTimeoutS("true", undefined, 0)).toBe(0);
});
