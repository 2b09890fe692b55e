// What tables look like: fixed rows, so that every space counts.
import { afterAll, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { type SessionRow, sessionColumns } from "../../../../src/cli/commands/ls.ts";
import { type Running, runningColumns } from "../../../../src/cli/running.ts";
import { type Column, cut, renderTable } from "../../../../src/cli/ui/table.ts";
import { type Sample, sorted } from "../../../../src/cli/ui/top-sample.ts";
import { plainLines, type View, windowLines } from "../../../../src/cli/ui/top-view.ts";
import { hasColour, paintFor } from "../../../../src/util/style.ts";
import { expectGolden } from "../../../support/golden.ts";

beforeAll(() => {
  setSystemTime(new Date("2026-11-16T12:00:00Z"));
});
afterAll(() => {
  setSystemTime();
});

const plain = { paint: paintFor(false), width: undefined };
const command = {
  session_id: "s-1b4af53c",
  session_name: "build",
  kind: "stream",
  pid: 4711,
  state: "running",
  started_at: "2026-11-16T11:58:48Z",
  ended_at: null,
  exit_code: null,
  signal: null,
  reason: null,
  output_bytes: 603_000,
} as const;

const running: Running[] = [
  { ...command, id: "x-7625f445", command: "cargo build --release --workspace --all-targets" },
  { ...command, id: "x-7625f446", session_name: null, command: "for i in 1 2 3; do\n  make $i\ndone" },
  { ...command, id: "x-00000001", kind: "run", ...ended(0, null, "exit"), command: "true" },
  { ...command, id: "x-00000002", kind: "run", ...ended(2, null, "exit"), command: "ls nothing" },
  { ...command, id: "x-00000003", ...ended(143, "SIGTERM", "timeout"), command: "sleep 100" },
  { ...command, id: "x-00000004", ...ended(130, "SIGINT", "cancelled"), command: "sleep 200" },
  { ...command, id: "x-00000005", ...ended(139, "SIGSEGV", "signal"), command: "./crash" },
  {
    ...command,
    id: "editor",
    session_id: "editor",
    session_name: "editor",
    kind: "pty",
    pid: 123_456,
    started_at: "2026-11-14T09:00:00Z",
    output_bytes: 12_345_678,
    command: "vim 日本語のファイル.txt",
  },
];

function ended(exit_code: number, signal: string | null, reason: string) {
  return { state: "ended", ended_at: "2026-11-16T11:58:52Z", exit_code, signal, reason } as const;
}

const session = {
  session_id: "s-38044ac7",
  name: null,
  kind: "exec",
  shell: "/bin/bash",
  state: "idle",
  working_dir: "/home/me/projects/a-rather-long-name/src",
  created_at: "2026-11-16T08:56:00Z",
  last_activity: "2026-11-16T08:56:00Z",
  command_count: 3,
  timeout_s: 60,
  idle_timeout_s: 3600,
  max_age_s: 0,
  expires_at: null,
  expires_by: null,
} as const;
const terminal = {
  ...session,
  kind: "pty",
  pid: 4712,
  cols: 80,
  rows: 24,
  driver: "native",
  subscribers: 1,
  offset: 10,
  first_offset: 0,
  exit_code: null,
  signal: null,
  ended_at: null,
  command: null,
  reason: null,
  receipt: null,
} as const;

const sessions: SessionRow[] = [
  { entry: session, command: undefined },
  { entry: { ...session, state: "running", name: "build" }, command: "make -j8 all" },
  { entry: { ...terminal, session_id: "work", name: "work", state: "running" }, command: "/bin/bash" },
  {
    entry: { ...terminal, name: "a\x1b[2J\nb", state: "exited", exit_code: 3, subscribers: 0 },
    command: "sh",
  },
];

describe("golden tables:", () => {
  const columns = Object.values(runningColumns);
  for (const width of [undefined, 100, 60, 40]) {
    const at = { ...plain, width };
    test(`ps at ${width ?? "any"} columns`, async () => {
      await expectGolden(`table-ps-${width ?? "pipe"}.txt`, renderTable(columns, running, at));
    });
    test(`ls at ${width ?? "any"} columns`, async () => {
      await expectGolden(`table-ls-${width ?? "pipe"}.txt`, renderTable(sessionColumns, sessions, at));
    });
    test(`nothing is wider than ${width ?? "any"}`, () => {
      const lines = renderTable(columns, running, at).trimEnd().split("\n");
      for (const line of lines)
        expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width ?? Number.POSITIVE_INFINITY);
    });
  }

  test("ps in colours", async () => {
    const look = { paint: paintFor(true), width: 100 };
    await expectGolden("table-ps-colour.txt", renderTable(columns, running, look));
    expect(Bun.stripANSI(renderTable(columns, running, look))).toBe(
      renderTable(columns, running, { ...plain, width: 100 }),
    );
  });

  test("top, plain and in a window", async () => {
    await expectGolden("table-top-pipe.txt", `${plainLines(sample, view, undefined).join("\n")}\n`);
    const lines = windowLines(sample, view, { cols: 80, rows: 7 });
    expect(lines).toHaveLength(7);
    await expectGolden("table-top-window.txt", `${lines.join("\n")}\n`);
  });
});

const view: View = {
  version: "1.2.3",
  sort: "rate",
  isReversed: false,
  scrolled: 1,
  isStale: false,
  paint: paintFor(false),
};
const rows = running
  .filter(({ state }) => state === "running")
  .concat({ ...running[0]!, id: "x-99999999", output_bytes: 0, command: "sleep 1" })
  .map((row, at) => ({ ...row, bytes_per_s: at * 1200 || undefined }));
const sample: Sample = {
  at: 0,
  rows,
  bytes_per_s: 7200,
  stats: {
    active_sessions: 5,
    total_commands_run: 9,
    uptime_s: 11_520,
    memory_rss_bytes: 48_300_000,
    open_fds: 1,
    running_commands: 1,
    pty_sessions: 3,
    subscribers: 0,
    leftover_processes: 0,
    connections: 1,
    connections_total: 1,
    bytes_in: 0,
    bytes_out: 0,
    upgrades: 0,
    pid: 1,
  },
};

describe("top", () => {
  test.each([
    ["elapsed", ["editor", "x-7625f445", "x-7625f446", "x-99999999"]],
    ["output", ["editor", "x-7625f445", "x-7625f446", "x-99999999"]],
    ["rate", ["x-99999999", "editor", "x-7625f446", "x-7625f445"]],
    ["session", ["x-7625f445", "x-99999999", "editor", "x-7625f446"]],
  ] as const)("sorts by %s, both ways", (by, ids) => {
    expect(sorted(rows, by, false).map(({ id }) => id)).toEqual([...ids]);
    expect(sorted(rows, by, true).map(({ id }) => id)).toEqual([...ids].reverse());
  });

  test("fills any window, and never more", () => {
    for (const height of [1, 2, 3, 4, 5, 30]) {
      for (const cols of [1, 5, 20, 200]) {
        const lines = windowLines(sample, view, { cols, rows: height });
        expect(lines).toHaveLength(height);
        for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(cols);
      }
    }
    expect(windowLines({ ...sample, rows: [] }, view, { cols: 40, rows: 10 }).join("\n")).toContain(
      "nothing is running",
    );
  });
});

describe("a table", () => {
  const columns: Column<string>[] = [
    { title: "A", cell: (text) => text },
    { title: "N", cell: (text) => text.length, isRight: true },
  ];

  test("removes control characters, and shows a dash for an empty cell", () => {
    const out = renderTable(columns, ["\x1b[31mred\x07", "a\u202eb", "", "x\r\ny"], plain);
    expect(out).toBe("A        N\n[31mred  9\na b      3\n-        0\nx y      4\n");
  });

  test("measures what is to be seen", () => {
    expect(renderTable(columns, ["日本", "e\u0301", "👩‍👩‍👧"], plain)).toBe(
      "A     N\n日本  2\ne\u0301     2\n👩‍👩‍👧    8\n",
    );
  });

  test("cuts between characters", () => {
    expect(cut("日本語", 6)).toBe("日本語");
    expect(cut("日本語", 5)).toBe("日本…");
    expect(cut("日本語", 4)).toBe("日…");
    expect(cut("abc", 1)).toBe("…");
  });
});

test("colours: on a terminal, unless they are switched off", () => {
  expect(hasColour(true, {})).toBe(true);
  expect(hasColour(false, {})).toBe(false);
  expect(hasColour(true, { TERM: "dumb" })).toBe(false);
  expect(hasColour(true, { NO_COLOR: "1" })).toBe(false);
  expect(hasColour(true, { NO_COLOR: "" })).toBe(true);
  expect(hasColour(false, { FORCE_COLOR: "1" })).toBe(true);
  expect(hasColour(false, { FORCE_COLOR: "1", TERM: "dumb" })).toBe(true);
  expect(hasColour(true, { FORCE_COLOR: "0" })).toBe(false);
  expect(hasColour(true, { FORCE_COLOR: "1", NO_COLOR: "1" })).toBe(false);
});
