// Node.js's own child_process, as an agent without trl would do it. spawn.mjs PROGRAM [ARG...]
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [program, ...args] = process.argv.slice(2);
const now = () => process.hrtime.bigint();

function spawnOnce() {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    child.on("error", reject);
    child.on("close", resolve);
  });
}

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [count, pauseUs] = line.split(" ").map(Number);
  const samples = [];
  const block = now();
  for (let i = 0; i < count; i++) {
    if (pauseUs > 0) await sleep(pauseUs / 1000);
    const began = now();
    await spawnOnce();
    samples.push(now() - began);
  }
  console.log([now() - block, ...samples].join(" "));
}
