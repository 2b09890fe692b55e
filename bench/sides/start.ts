// The same as native/start.c, for machines without a C compiler. start.ts SOCKET PROGRAM [ARG...]
import { createInterface } from "node:readline";

const [socketPath = "", ...command] = process.argv.slice(2);

async function isAccepting(): Promise<boolean> {
  const socket = await Bun.connect({ unix: socketPath, socket: { data() {} } }).catch(() => undefined);
  socket?.end();
  return socket !== undefined;
}

async function startOnce(): Promise<number> {
  const began = Bun.nanoseconds();
  const child = Bun.spawn(command, { stdio: ["ignore", "ignore", "ignore"] });
  while (!(await isAccepting())) await Bun.sleep(1);
  const took = Bun.nanoseconds() - began;
  child.kill();
  await child.exited;
  return took;
}

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [count = 0, pauseUs = 0] = line.split(" ").map(Number);
  const block = Bun.nanoseconds();
  const samples: number[] = [];
  for (let i = 0; i < count; i++) {
    await Bun.sleep(pauseUs / 1000);
    samples.push(await startOnce());
  }
  console.log([Bun.nanoseconds() - block, ...samples].map(Math.round).join(" "));
}
