// While a command is young, its processes are noted more often than by the usual look.
import { expect, test } from "bun:test";
import { cleanupIntervalMs } from "../../../src/core/limits.ts";
import type { ProcessOwnership } from "../../../src/core/process/ownership.ts";
import { CensusTaker } from "../../../src/recovery/census-taker.ts";
import type { Journal } from "../../../src/recovery/journal.ts";
import type { StartedRecord } from "../../../src/recovery/record.ts";

test("the processes of a young command are noted before the usual look", async () => {
  let notes = 0;
  const journal = { tend: () => void notes++ } as unknown as Journal;
  const ownership = { adoptsOrphans: true, adoptAndReap() {}, pids: () => [] } as unknown as ProcessOwnership;
  const taker = new CensusTaker(ownership, journal);
  journal.onRecord({ kind: "run" } as StartedRecord);
  // Timers of one event loop fire in the order in which they are due, however late.
  await Bun.sleep(cleanupIntervalMs / 2);
  taker.close();
  expect(notes).toBeGreaterThan(0);
});
