// exec.stream of a flood beside the same command into a raw pipe.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Row, startDaemon } from "./support.ts";

const totalBytes = 500_000_000;
const rounds = 3;

const newline = 10;

/** A client that looks at each frame as little as it can: the daemon is measured, not JSON.parse. */
async function throughStream(socketPath: string, command: string): Promise<number> {
  let sessionId = "";
  let began = 0;
  const { promise, resolve } = Promise.withResolvers<number>();
  let tail = Buffer.alloc(0);
  const socket = await Bun.connect({
    unix: socketPath,
    socket: {
      data(s, chunk) {
        if (sessionId === "") {
          sessionId = /s-[0-9a-f]{8}/.exec(chunk.toString())![0];
          began = performance.now();
          const params = { session_id: sessionId, command, max_output_bytes: 1_000_000, timeout_s: 0 };
          s.write(`${JSON.stringify({ id: "2", method: "exec.stream", params })}\n`);
          return;
        }
        tail = Buffer.concat([tail.subarray(-200), chunk.subarray(-200)]);
        if (chunk.at(-1) === newline && tail.includes('"type":"exit"')) resolve(performance.now() - began);
      },
    },
  });
  socket.write('{"id":"1","method":"session.create"}\n');
  const ms = await promise;
  socket.end();
  return ms;
}

async function throughPipe(command: string): Promise<number> {
  const began = performance.now();
  const child = Bun.spawn(["bash", "-c", command], { stdio: ["ignore", "pipe", "ignore"] });
  for await (const _ of child.stdout) {
    // as fast as it comes
  }
  await child.exited;
  return performance.now() - began;
}

export async function benchStream(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "trl-bench-"));
  const file = join(dir, "text");
  const line = "The quick brown fox jumps over the lazy dog, 0123456789 times a day.\n";
  writeFileSync(file, line.repeat(Math.ceil(10_000_000 / line.length)).slice(0, 10_000_000));
  const command = `for i in {1..50}; do cat ${file}; done`;
  await using daemon = await startDaemon();
  let mine = 0;
  let floor = 0;
  for (let i = 0; i < rounds; i++) {
    mine = Math.max(mine, totalBytes / 1000 / (await throughStream(daemon.socketPath, command)));
    floor = Math.max(floor, totalBytes / 1000 / (await throughPipe(command)));
  }
  rmSync(dir, { recursive: true, force: true });
  const ratio = mine / floor;
  return [
    {
      what: "exec.stream, 500 MB of text / raw pipe",
      measured: `${mine.toFixed(0)} MB/s`,
      floor: `${floor.toFixed(0)} MB/s`,
      ratio,
      goal: ">= 0.25",
      isMet: ratio >= 0.25,
    },
  ];
}
