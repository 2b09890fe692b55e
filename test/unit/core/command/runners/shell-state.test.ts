import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import type { CommandOutcome } from "../../../../../src/core/command/command.ts";
import type { ShellFiles } from "../../../../../src/core/command/runners/shell-files.ts";
import { SessionShellState } from "../../../../../src/core/command/runners/shell-state.ts";
import { sessionPathsOf } from "../../../../../src/core/command/session-paths.ts";
import type { CommandFeed, ReportedState } from "../../../../../src/core/command/shell/dialect.ts";
import { byteStringOf } from "../../../../../src/core/process/byte-string.ts";

const reportBytes = 100_000;
const initial = {
  ...{ workingDir: "/", previousDir: undefined, script: "", lateScript: "" },
  ...{ exportedNames: [], lastStatus: 0 },
};

/** Pieces of the text, as every dialect has them. */
function filesWith(report: string): ShellFiles {
  const piece = (at: number) => report.slice(at, at + 20);
  const reported: ReportedState = {
    ...{ workingDir: piece(0), previousDir: piece(100), script: piece(200), lateScript: piece(300) },
    ...{ aliasScript: piece(400), exportedNames: [piece(500)] },
  };
  const files: Partial<ShellFiles> = {
    ...{ dir: "/x", mayReport: true, readReport: () => report, parseReport: () => reported },
  };
  return files as ShellFiles;
}

function reported(number: number): SessionShellState {
  const files = filesWith(byteStringOf(Buffer.alloc(reportBytes, `report ${number} `)));
  const feed = { state: initial, workingDir: "/", place: "here", env: [] } as unknown as CommandFeed;
  const kept = new SessionShellState(initial, sessionPathsOf(undefined));
  const request = { commandId: "x", command: "x=1", env: {}, workingDir: undefined, wantsStdin: false };
  kept.ended({ files, feed, request }, { exitCode: 0, isOwnEnd: true } as CommandOutcome);
  return kept;
}

test("nothing of a state holds the report that it was read from", () => {
  const extra = () => {
    Bun.gc(true);
    return heapStats().extraMemorySize;
  };
  const before = extra();
  const states = Array.from({ length: 100 }, (_, number) => reported(number));
  expect(extra() - before).toBeLessThan((states.length * reportBytes) / 10);
  expect(states.map(({ state }) => state.workingDir)[7]).toBe("report 7 report 7 re");
});
