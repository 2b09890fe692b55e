// The method table is the contract: every method has a handler and a test over the real socket.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toJsonSchema } from "@valibot/to-json-schema";
import { Instant } from "../../../src/core/lifetime/instant.ts";
import type { SessionRegistry } from "../../../src/core/session/registry.ts";
import { isMethodName, methods } from "../../../src/protocol/methods.ts";
import { Recovered } from "../../../src/recovery/recovered.ts";
import { Executables } from "../../../src/remote/provision/executables.ts";
import { Runtimes } from "../../../src/remote/runtimes.ts";
import { newCounters } from "../../../src/server/counters.ts";
import { createHandlers } from "../../../src/server/handlers/handlers.ts";
import { ResumePoints } from "../../../src/server/resume-points.ts";
import { StreamFrames } from "../../../src/server/stream-frames.ts";
import { TerminalFrames } from "../../../src/server/terminal-frames.ts";
import { QueryReplies } from "../../../src/server/terminal-replies.ts";
import { scalarEncoder } from "../../../src/util/byte-encoder.ts";

const names = Object.keys(methods);
const integrationDir = join(import.meta.dir, "../../integration");

test("every method has a handler, and every handler a method", () => {
  const registry = {} as SessionRegistry; // nothing is called
  const handlers = createHandlers({
    registry,
    counters: newCounters(),
    version: "0",
    transports: [],
    maxLineBytes: 1,
    runtimes: new Runtimes({ env: {}, runDir: "", executables: new Executables({ own: undefined }) }),
    labels: [],
    recovered: new Recovered(),
    startedAt: new Instant(),
    stallTimeoutS: 30,
    resumePoints: new ResumePoints(),
    streamFrames: new StreamFrames(scalarEncoder),
    terminalFrames: new TerminalFrames(scalarEncoder),
    queryReplies: new QueryReplies(),
    upgrading: { count: 0, last: null, begin: () => Promise.reject(new Error("nothing is called")) },
  });
  expect(Object.keys(handlers).sort()).toEqual([...names].sort());
});

describe("every method is tried over the real socket:", () => {
  const files = [...new Bun.Glob("**/*.test.ts").scanSync(integrationDir)];
  const text = files.map((file) => readFileSync(join(integrationDir, file), "utf8")).join("\n");
  for (const name of names) test(name, () => expect(text.includes(name)).toBeTrue());
});

describe("every method can be described:", () => {
  for (const [name, { summary, params, result }] of Object.entries(methods)) {
    test(name, () => {
      expect(summary).toMatch(/^[A-Z].*\.$/);
      expect(toJsonSchema(params, { errorMode: "ignore" }).type).toBe("object");
      expect(toJsonSchema(result, { errorMode: "ignore" }).type).toBe("object");
    });
  }
});

test("only what is in the table is a method", () => {
  expect(isMethodName("system.ping")).toBeTrue();
  for (const name of ["", "ping", "System.Ping", "toString", "__proto__", "constructor"]) {
    expect(isMethodName(name)).toBeFalse();
  }
});
