import { typingMs } from "../limits.ts";
import { Emulator, serializer, xterm } from "./emulator.ts";
import { isSomebodyTyping } from "./typing.ts";

/**
 * The first emulator takes some 50 ms to load and to get going, 20 of them in one piece: better in small steps, before
 * somebody waits for it, and not between a key and its echo.
 */
export async function warmUpEmulator(): Promise<void> {
  await quietMoment();
  xterm();
  await quietMoment();
  serializer();
  const emulator = new Emulator({ cols: 80, rows: 24 }, () => {});
  for (let line = 0; line < 600; line++) {
    if (line % 20 === 0) await quietMoment();
    emulator.write(`\x1b[3${line % 8}mline\x1b[0m ${line} of some text that is not very long\r\n`);
    if (line % 100 === 0) emulator.redraw(0);
  }
  emulator.dispose();
}

const warmUpPauseMs = 2;

async function quietMoment(): Promise<void> {
  do await Bun.sleep(isSomebodyTyping() ? typingMs : warmUpPauseMs);
  while (isSomebodyTyping());
}
