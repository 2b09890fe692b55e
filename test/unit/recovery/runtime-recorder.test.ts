// While a command is young, its processes are listed more often than at each housekeeping.
import { expect, test } from "bun:test";
import type { CommandRecord } from "../../../src/core/command/store.ts";
import { cleanupIntervalMs } from "../../../src/core/limits.ts";
import type { ProcessOwnership } from "../../../src/core/process/ownership.ts";
import type { Journal } from "../../../src/recovery/journal.ts";
import type { JournalRecord } from "../../../src/recovery/journal-record.ts";
import { RuntimeRecorder } from "../../../src/recovery/runtime-recorder.ts";

const command = { id: "x-1", pid: 7, startedAt: new Date(5) };
const record = { command, sessionId: "s-1", kind: "run" } as unknown as CommandRecord;

test("the processes of a young command are written before the next housekeeping", async () => {
  let lists = 0;
  const records: JournalRecord[] = [];
  const journal = {
    write: (written: JournalRecord) => void records.push(written),
    writeProcesses: () => void lists++,
  } as unknown as Journal;
  const ownership = { adoptsOrphans: true, adoptAndReap() {}, pids: () => [] } as unknown as ProcessOwnership;
  const recorder = new RuntimeRecorder(ownership, journal);
  recorder.commandStarted(record);
  // Timers of one event loop fire in the order in which they are due, however late.
  await Bun.sleep(cleanupIntervalMs / 2);
  recorder.closing();
  expect(lists).toBeGreaterThan(0);
  expect(records).toEqual([{ kind: "run", id: "x-1", sessionId: "s-1", pid: 7, startedAt: 5 }]);
  const before = lists;
  await Bun.sleep(cleanupIntervalMs / 5);
  expect(lists).toBe(before); // no timer is left
});
