// Output that is not read, not output that is stopped: the kernel loses a line's end now and then where a terminal is
// stopped while a program prints.
import { expect, test } from "bun:test";
import { readPauseOf } from "../../../../src/core/pty/read-pause-linux.ts";
import { until } from "../../../support/wait.ts";

const isLinux = process.platform === "linux";
const noFallback = () => {
  throw new Error("nobody was found who waits for the output");
};

test.if(isLinux)("a program waits while it is not read, and every byte comes", async () => {
  const last = 100_000;
  let bytes = 0;
  let isEnded = false;
  const child = Bun.spawn(["sh", "-c", `echo begun; read line; seq 1 ${last}`], {
    terminal: {
      cols: 80,
      rows: 24,
      data(_, chunk) {
        bytes += chunk.length;
      },
      exit: () => {
        isEnded = true;
      },
    },
  });
  await until("its beginning", () => bytes > 0);
  const pause = readPauseOf(child.pid, noFallback)!;
  pause.close();
  await turn();
  const before = bytes;
  child.terminal!.write("\n");
  await Bun.sleep(100);
  expect(bytes).toBe(before);
  expect(child.exitCode).toBeNull(); // it waits for room
  for (let stops = 0; !isEnded; stops++) {
    pause.open();
    await turn();
    if (stops % 3 === 0) await Bun.sleep(1);
    pause.close();
    await turn();
    if (child.exitCode !== null) pause.dispose();
  }
  expect(await child.exited).toBe(0);
  child.terminal!.close();
  const printed = Array.from({ length: last }, (_, i) => `${i + 1}\r\n`).join("").length;
  expect(bytes).toBe("begun\r\n\r\n".length + printed);
});

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
