// Terminals that have ended are kept with their last screens, which costs no other client anything.
import { expect } from "bun:test";
import { join } from "node:path";
import { startDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { stallsIn } from "../../support/stalls.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal } from "../../support/terminal.ts";

const small = 220;
const large = 5;
const largeBytes = 9_000_000;

needs("linux").test(
  "the screens of many that have ended, small and large, are drawn beside the daemon",
  async () => {
    using dir = tempDir();
    const stallFile = join(dir.path, "stalls");
    await using daemon = await startDaemon({ env: { TRL_STALL_FILE: stallFile } });
    using wire = await daemon.connect();
    const begin = async (command: string) => {
      const terminal = await newTerminal(wire, { command });
      await terminal.waitForExit(60);
      return terminal;
    };
    const first = await begin("seq 1 30; printf 'small one'");
    for (let at = 1; at < small; at++) await begin(`seq 1 30; printf 'small ${at}'`);
    // More together than what is kept of their output: those before them keep their last screens only.
    for (let at = 0; at < large; at++)
      await begin(`yes 'a line of a large one' | head -c ${largeBytes}; printf 'large ${at}'`);
    const { lines } = await first.snapshot();
    expect(lines!.slice(-2)).toEqual(["30", "small one"]);
    const { sessions } = await wire.call("pty.list", { state: "exited" });
    expect(sessions.length).toBe(small + large);
    const shown = await Promise.all(
      sessions.map(({ session_id }) => wire.call("pty.snapshot", { session_id })),
    );
    const last = shown.map((screen) => screen.lines!.findLast((line) => line !== "")!);
    expect(last.filter((line) => /^small (?:one|\d+)$/.test(line)).length).toBe(small);
    expect(last.filter((line) => /large \d$/.test(line)).length).toBe(large);
    expect(shown.filter(({ screen_error }) => screen_error !== undefined)).toEqual([]);
    expect(stallsIn(stallFile)).toEqual([]);
  },
  120_000,
);
