// The storm in short; CHAOS_S=600 CHAOS_SEED=7 makes it longer, and another one. `bun run chaos` does the same by itself.
import { expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { figuresText } from "./books.ts";
import { chaos, decide, wireSteps } from "./storm.ts";

const seconds = Number(process.env["CHAOS_S"] ?? 5);
const seed = Number(process.env["CHAOS_SEED"] ?? 20_260_103);

// Without direct-read a flood is stopped at its terminal, in which the kernel may lose a line end.
needs("direct-read").test(
  `${seconds} s of chaos: nothing is lost, nothing is left`,
  async () => {
    const begin = performance.now();
    const { figures, problems } = await chaos(seed, seconds);
    const text = figuresText(figures, seed, (performance.now() - begin) / 1000);
    console.log(text);
    const again = `again: bun run chaos --seconds ${seconds} --seed ${seed}`;
    expect(problems.length === 0 ? [] : [...problems, text, again]).toEqual([]);
    expect(figures.answered).toBeGreaterThan(50);
    expect(figures.bytes).toBeGreaterThan(1000);
  },
  120_000 + seconds * 3000,
);

test("a seed decides what every client does, whatever else happens", () => {
  const plan = (from: number) =>
    Array.from({ length: 60 }, (_, n) => {
      const { step, drawn } = decide(wireSteps, from, "0.0", "unix-1", n);
      return `${step.name} ${JSON.stringify(drawn)}`;
    });
  expect(plan(7)).toEqual(plan(7));
  expect(plan(8)).not.toEqual(plan(7));
  expect(new Set(plan(7).map((step) => step.split(" ")[0])).size).toBeGreaterThan(8);
});
