import { Emulator, serializer, xterm } from "./emulator.ts";

/** The first emulator takes some 50 ms to load and to get going: better in small steps, before somebody waits for it. */
export async function warmUpEmulator(): Promise<void> {
  xterm();
  await Bun.sleep(warmUpPauseMs);
  serializer();
  const emulator = new Emulator({ cols: 80, rows: 24 }, () => {});
  for (let line = 0; line < 600; line++) {
    if (line % 20 === 0) await Bun.sleep(warmUpPauseMs);
    emulator.write(`\x1b[3${line % 8}mline\x1b[0m ${line} of some text that is not very long\r\n`);
    if (line % 100 === 0) emulator.redraw(0);
  }
  emulator.dispose();
}

const warmUpPauseMs = 2;
