// From the start of the executable to the first connection accepted.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binary, median, ms, type Row, timed } from "./support.ts";

const rounds = 15;
const goalMs = 60;

async function startAndConnect(path: string): Promise<Bun.Subprocess> {
  const child = Bun.spawn([binary, "serve", "--socket-path", path], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  for (;;) {
    const socket = await Bun.connect({ unix: path, socket: { data() {} } }).catch(() => undefined);
    if (socket) {
      socket.end();
      return child;
    }
    await Bun.sleep(1);
  }
}

export async function benchStartup(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "trl-bench-"));
  const samples: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i < rounds; i++) {
    let child: Bun.Subprocess | undefined;
    samples.push(
      await timed(async () => {
        child = await startAndConnect(join(dir, `${i}.sock`));
      }),
    );
    child!.kill();
    await child!.exited;
    floor.push(
      await timed(() => Bun.spawn([binary, "--version"], { stdio: ["ignore", "ignore", "ignore"] }).exited),
    );
  }
  rmSync(dir, { recursive: true, force: true });
  const measured = median(samples);
  return [
    {
      what: "serve accepts after start / trl --version",
      measured: ms(measured),
      floor: ms(median(floor)),
      ratio: measured / median(floor),
      goal: `<= ${goalMs} ms`,
      isMet: measured <= goalMs,
    },
  ];
}
