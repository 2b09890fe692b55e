// What the output of all terminals may take together.
import { expect, test } from "bun:test";
import { startDaemon } from "../../support/daemon.ts";
import { newTerminal } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";

const mib = 1024 * 1024;
const count = 36;
/** Hundreds of megabytes pass the terminals: on a busy machine that takes minutes. */
const floodMs = 240_000;

test(
  "each of many terminals that flood keeps some output, and all together no more than their budget",
  async () => {
    await using daemon = await startDaemon();
    using wire = await daemon.connect();
    const command = `head -c ${8.5 * mib} /dev/zero; exec sleep 1000`;
    for (let i = 0; i < count; i++) await newTerminal(wire, { command });
    const allPrinted = async () => {
      const { sessions } = await wire.call("pty.list", {});
      return sessions.every(({ offset }) => offset >= 8.5 * mib) ? sessions : undefined;
    };
    const offsets = await until("all of their output", allPrinted, floodMs);
    const kept = offsets.map(({ first_offset, offset }) => offset - first_offset);
    expect(kept.length).toBe(count);
    for (const bytes of kept) expect(bytes).toBeGreaterThanOrEqual(mib);
    expect(kept.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual((256 + count) * mib);
    expect(Math.max(...kept)).toBe(8 * mib);
  },
  floodMs + 10_000,
);
