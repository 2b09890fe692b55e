// The benchmark runs, and its JSON has what the chart and the page are made from.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../../bench/harness/report.ts";
import { binary } from "../support/program.ts";
import { tempDir } from "../support/temp-dir.ts";

const root = join(import.meta.dir, "../..");

async function bench(args: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, join(root, "bench/run.ts"), ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { stdout, stderr, exitCode: await child.exited };
}

test("--list names the scenarios, and a name that is none is refused", async () => {
  const { stdout, exitCode } = await bench(["--list"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^ping +\S/m);
  const refused = await bench(["--only", "nonsense"]);
  expect(refused.exitCode).toBe(64);
  expect(refused.stderr).toContain("nonsense");
});

test("a scenario gives a table and JSON, with what is missing by its name", async () => {
  using dir = tempDir();
  const json = join(dir.path, "run.json");
  // A machine without a compiler: the client is the one in Bun, and the floor in C is missing.
  const args = ["--quick", "--only", "ping,size", "--json", json, "--trl", binary];
  const { stdout, stderr, exitCode } = await bench(args, { PATH: dir.path });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  const report: Report = JSON.parse(readFileSync(json, "utf8"));
  expect(report).toMatchObject({ client: "Bun", is_quick: true });
  expect(report.missing).toContain("cc is not installed");
  expect(report.rows.map(({ scenario }) => scenario)).toEqual(["ping", "ping", "size"]);
  const [floor, peer] = report.rows;
  expect(floor).toMatchObject({
    name: "system.ping",
    unit: "ms",
    beside: { name: "echo in C", missing: "cc is not installed" },
    bar: { is: "<=", value: 2, of: "ratio" },
  });
  expect(floor!.isMet).toBeUndefined();
  expect(peer!.trl.p50).toBeGreaterThan(0);
  expect(peer!.ratio).toBeGreaterThan(0);
  expect(stdout).toContain("missing: cc is not installed");
  expect(stdout).toMatch(/system\.ping .* us .*echo in C +missing .*<= 2 +not judged/);
});
