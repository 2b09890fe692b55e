// `bun run chaos [--seconds N] [--seed N]`: a storm of any length. Prints its figures, and what went wrong.
import { parseArgs } from "node:util";
import { figuresText } from "./books.ts";
import { chaos } from "./storm.ts";

const { values } = parseArgs({ options: { seconds: { type: "string" }, seed: { type: "string" } } });
const seconds = Number(values.seconds ?? 60);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!(seconds > 0) || !Number.isInteger(seed)) throw new Error("--seconds and --seed take numbers");

console.log(`chaos: seed ${seed}, ${seconds} s`);
const begin = performance.now();
const { figures, problems } = await chaos(seed, seconds);
console.log(figuresText(figures, seed, (performance.now() - begin) / 1000));
for (const problem of problems) console.log(`PROBLEM ${problem}`);
console.log(
  problems.length === 0
    ? "nothing lost, nothing left"
    : `again: bun run chaos --seconds ${seconds} --seed ${seed}`,
);
process.exit(problems.length === 0 ? 0 : 1);
