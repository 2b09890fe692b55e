// A cancel at any moment is heard by everybody, and by nobody twice.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { commandGraceMs } from "../../../src/core/limits.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { newSession } from "../../support/session.ts";
import type { Frame, Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon();
  wire = await daemon.connect();
});
afterAll(async () => {
  wire[Symbol.dispose]();
  await daemon[Symbol.asyncDispose]();
});

/** Runs it until it has printed, then for `waitMs`, and says how it ended. */
async function cancelled(sessionId: string, command: string, waitMs = 0) {
  const { stream_id } = await wire.call("exec.stream", { session_id: sessionId, command });
  const isOfIt = (frame: Frame) => frame["stream_id"] === stream_id;
  await wire.frame((frame) => isOfIt(frame) && frame["type"] === "stdout");
  const moment = performance.now() + waitMs;
  while (performance.now() < moment); // a timer would wake up a millisecond later at best
  const began = performance.now();
  await wire.call("exec.cancel", { stream_id });
  const exit = await wire.frame((frame) => isOfIt(frame) && frame["type"] === "exit");
  const tookMs = performance.now() - began;
  const printed = wire.frames.filter((frame) => isOfIt(frame) && frame["type"] === "stdout");
  return { signal: exit["signal"], stdout: printed.map((frame) => frame["data"]).join(""), tookMs };
}

const commands = [
  "echo x; sleep 100",
  "echo x; sleep 100 | sleep 100",
  "sleep 100 & echo x; wait",
  "(sleep 100; echo y) & echo x; wait",
];
test.each(commands)("a child that becomes its program just then: %s", async (command) => {
  const { id } = await newSession(wire);
  for (let waitMs = 0; waitMs < 2; waitMs += 0.05) {
    const { signal, tookMs } = await cancelled(id, command, waitMs);
    expect(signal).toBe("SIGTERM");
    expect(tookMs).toBeLessThan(commandGraceMs);
  }
});

describe("who has heard it is not told again", () => {
  test("a trap, and the programs that it runs", async () => {
    const { id } = await newSession(wire);
    for (const [action, name] of [
      ["exit", "TERM"],
      ["true", "EXIT"],
    ]) {
      const command = `trap 'sleep 0.2; echo cleaned; ${action}' ${name}; sh -c 'echo x; exec sleep 100' & wait`;
      expect((await cancelled(id, command)).stdout).toBe("x\ncleaned\n");
    }
  });

  needs("python3").test("a program that takes its time, whose parent does not wait for it", async () => {
    const { id } = await newSession(wire);
    const program = `import os, signal, time
def finish(signum, frame):
    signal.signal(signum, signal.SIG_DFL)
    time.sleep(0.2)
    os.write(1, b"finished\\n")
    os._exit(0)
signal.signal(signal.SIGTERM, finish)
os.write(1, b"x\\n")
while True: time.sleep(0.01)`;
    for (const rest of ["", "; echo after"])
      expect((await cancelled(id, `python3 -c '${program}'${rest}`)).stdout).toBe("x\nfinished\n");
  });
});
