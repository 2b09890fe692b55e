// Programs that print what is hard to read: it costs their own screens, and no other client.
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { needs } from "../support/needs.ts";
import { childrenOf, residentBytes } from "../support/processes.ts";
import { stallsIn } from "../support/stalls.ts";
import { tempDir } from "../support/temp-dir.ts";
import { newTerminal, Watcher } from "../support/terminal.ts";
import { Wire } from "../support/wire.ts";
import { hostileOutput } from "./hostile-output.ts";

const { test } = needs("linux");

/** Of the daemon's processor time in one turn of its event loop, in which every other client waits. */
const stallMs = 100;
const daemonGrowthMaxBytes = 200e6;
/** A screen process with a screen of its largest size, and what it drops between two collections. */
const screenProcessMaxBytes = 900e6;
const timeoutMs = 120_000;

const dir = tempDir();
const stallFile = join(dir.path, "stalls");
let daemon: TestDaemon;
let bytesBefore: number;
beforeAll(async () => {
  daemon = await startDaemon({ env: { TRL_STALL_FILE: stallFile, TRL_STALL_MS: String(stallMs) } });
  bytesBefore = residentBytes(daemon.pid);
});
afterAll(async () => {
  await daemon?.[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

describe("other clients are answered, and the bytes stay exact, while a program prints", () => {
  for (const [name, output] of Object.entries(hostileOutput)) {
    test.concurrent(
      name,
      async () => {
        using wire = await Wire.connect(daemon.socketPath);
        const file = join(daemon.dir, `${name.replaceAll(" ", "-")}.bin`);
        const bytes = Buffer.from(output(), name.startsWith("bytes") ? "latin1" : "utf8");
        writeFileSync(file, bytes);
        const command = `stty -opost -echo; cat '${file}'; printf '\\030\\033c'; read -r line; printf 'alive\\r\\n'; cat`;
        const terminal = await newTerminal(wire, { command, cols: 200, rows: 50 });
        // All the ways in which a screen is read: a wait, a snapshot, a redraw.
        const wait = wire.request("pty.wait", {
          session_id: terminal.id,
          until: { text: "never to be seen", idle_ms: 2000 },
          timeout_s: 60,
        });
        await terminal.snapshot();
        using other = await Wire.connect(daemon.socketPath);
        other.keepsFrames = false;
        const watcher = await Watcher.subscribe(other, { session_id: terminal.id });
        watcher.keeps = false;
        await wait;
        await terminal.type("go\n");
        await expectAlive(terminal);
        const { offset } = await terminal.summary();
        expect(offset).toBe(bytes.length + "\x18\x1bc".length + "alive\r\n".length);
        await wire.call("pty.close", { session_id: terminal.id });
      },
      timeoutMs,
    );
  }
});

test(
  "a storm of sizes amid output leaves the last size, and its text",
  async () => {
    using wire = await Wire.connect(daemon.socketPath);
    const terminal = await newTerminal(wire, {
      command: "while :; do seq 1 200; sleep 0.01; done",
      cols: 300,
      rows: 100,
    });
    const { id: session_id } = terminal;
    for (let at = 0; at < 400; at++) {
      wire.sendFrame({
        id: `size-${at}`,
        method: "pty.resize",
        params: { session_id, cols: 1 + ((at * 37) % 900), rows: 1 + ((at * 13) % 100) },
      });
      if (at % 40 === 0) await terminal.snapshot();
    }
    await wire.call("pty.resize", { session_id, cols: 90, rows: 30 });
    const { cols, rows, lines } = await terminal.snapshot();
    expect([cols, rows, lines!.length]).toEqual([90, 30, 30]);
    await terminal.waitForRegex("^200$");
    await wire.call("pty.close", { session_id });
  },
  timeoutMs,
);

/** The screen shows what comes behind the hostile output, at once or where it has been given up in between. */
async function expectAlive(terminal: Awaited<ReturnType<typeof newTerminal>>): Promise<void> {
  for (const deadline = performance.now() + 60_000; ; ) {
    const { lines, screen_error } = await terminal.snapshot();
    if (lines!.some((line) => line.includes("alive"))) return;
    if (performance.now() > deadline)
      throw new Error(`the screen is not read again: ${screen_error}\n${lines!.join("\n").trim()}`);
    await Bun.sleep(50);
  }
}

test("and in all that time no client waited, nor was memory used up", async () => {
  expect(stallsIn(stallFile)).toEqual([]);
  expect(residentBytes(daemon.pid) - bytesBefore).toBeLessThan(daemonGrowthMaxBytes);
  const screens = childrenOf(daemon.pid).filter(({ args }) => args.includes("__screens"));
  for (const { pid } of screens) expect(residentBytes(pid)).toBeLessThan(screenProcessMaxBytes);
});
