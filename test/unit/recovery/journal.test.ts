import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { journalBytesMax, retainedCommandsMax, retainedSeconds } from "../../../src/core/limits.ts";
import type { Log } from "../../../src/core/log.ts";
import { processTable } from "../../../src/platform/process-table.ts";
import { Journal } from "../../../src/recovery/journal.ts";
import type { EndedRecord, StartedRecord } from "../../../src/recovery/journal-record.ts";
import { readJournal } from "../../../src/recovery/read-journal.ts";
import { Recovered } from "../../../src/recovery/recovered.ts";
import { tempDir } from "../../support/temp-dir.ts";

const newLog = () => {
  const warnings: string[] = [];
  const log: Log = { debug() {}, info() {}, error() {}, warn: (message) => void warnings.push(message) };
  return { log, warnings };
};
const { log } = newLog();
const turn = () => new Promise(setImmediate);

const started = (id: string): StartedRecord => ({
  kind: "run",
  id,
  sessionId: "s-1",
  pid: 123,
  startedAt: Date.now(),
});
const ended = (id: string, endedAt = Date.now()): EndedRecord => ({
  ...started(id),
  endedAt,
  exitCode: 3,
  signal: null,
  reason: "exit",
  durationMs: 5,
  stdoutBytes: 6,
  stderrBytes: 7,
  receipt: null,
});

describe("the journal", () => {
  test("has the latest record of each id, and reports those that ran as lost", async () => {
    using dir = tempDir();
    const path = join(dir.path, "j");
    const journal = new Journal(path, log);
    journal.write(started("x-1"));
    journal.write(started("x-2"));
    await turn();
    journal.write(ended("x-1"));
    await turn();
    const { records, daemons } = readJournal(path, log);
    expect(records).toMatchObject([
      { id: "x-1", reason: "exit", exitCode: 3, stdoutBytes: 6 },
      { id: "x-2", reason: "lost", exitCode: 255 },
    ]);
    const { startTime } = processTable.entry(process.pid)!;
    expect(daemons).toEqual([{ pid: process.pid, startTime }]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    journal.remove();
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test("retains the latest records, in a file of bounded size", async () => {
    using dir = tempDir();
    const path = join(dir.path, "j");
    const journal = new Journal(path, log);
    journal.write(started("x-first"));
    for (let i = 0; i < 5000; i++) {
      journal.write(started(`x-${i}`));
      journal.write(ended(`x-${i}`));
      if (i % 7 === 0) await turn();
      if (i % 100 === 0) expect(statSync(path).size).toBeLessThanOrEqual(journalBytesMax);
    }
    await turn();
    const ids = readJournal(path, log).records.map(({ id }) => id);
    const last = Array.from({ length: retainedCommandsMax }, (_, i) => `x-${5000 - retainedCommandsMax + i}`);
    expect(ids).toEqual([...last, "x-first"]);
    journal.remove();
  });

  test("warns once that it cannot be written", async () => {
    using dir = tempDir();
    const { log: ownLog, warnings } = newLog();
    const journal = new Journal(join(dir.path, "no", "j"), ownLog);
    for (let i = 0; i < 3; i++) {
      journal.write(ended(`x-${i}`));
      await turn();
    }
    expect(warnings).toEqual(["the journal cannot be written"]);
    journal.remove();
  });

  test("is written again after another program has removed it", async () => {
    using dir = tempDir();
    const path = join(dir.path, "j");
    const journal = new Journal(path, log);
    journal.write(ended("x-1"));
    await turn();
    rmSync(path);
    journal.writeProcesses([]);
    await turn();
    expect(readJournal(path, log).records).toMatchObject([{ id: "x-1" }]);
    journal.remove();
  });

  test("lists processes by pid and start time, for this pid namespace only", async () => {
    using dir = tempDir();
    const path = join(dir.path, "j");
    const journal = new Journal(path, log);
    journal.writeProcesses([process.pid, 2 ** 30]);
    await turn();
    const { startTime } = processTable.entry(process.pid)!;
    expect(readJournal(path, log).processes).toEqual([{ pid: process.pid, startTime }]);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(processTable.pidScope(), "another"));
    expect(readJournal(path, log).processes).toEqual([]);
    journal.remove();
  });
});

describe("reading it", () => {
  test("skips all but whole lines of valid records", () => {
    using dir = tempDir();
    const path = join(dir.path, "j");
    const bad = [
      { ...ended("x-1"), exitCode: "3" },
      { ...ended("x-1"), reason: "because" },
      { ...ended("x-1"), signal: "\u001b[2J" },
      { ...started("../../x") },
      { ...started("x-1"), pid: -1 },
      { ...started("x-1"), kind: "other" },
      [ended("x-1")],
      null,
    ];
    const lines = [
      ...bad.map((line) => JSON.stringify(line)),
      '{"id":',
      "\0\0",
      JSON.stringify(ended("x-2")),
    ];
    writeFileSync(path, lines.join("\n"));
    expect(readJournal(path, log).records.map(({ id }) => id)).toEqual(["x-2"]);
  });

  test("drops records that are too old", () => {
    using dir = tempDir();
    const path = join(dir.path, "j");
    const old = Date.now() - (retainedSeconds + 1) * 1000;
    writeFileSync(path, `${JSON.stringify(ended("x-old", old))}\n${JSON.stringify(ended("x-new"))}\n`);
    expect(readJournal(path, log).records.map(({ id }) => id)).toEqual(["x-new"]);
    expect(new Recovered([ended("x-old", old)]).command("x-old")).toBeUndefined();
  });
});
