import { expect } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

const goldenDirectory = join(import.meta.dir, "../fixtures/golden");

/**
 * Compares `actual` with the file `test/fixtures/golden/<name>`. What differs between two runs (ids, pids,
 * times) must have been replaced before. UPDATE_GOLDEN=1 writes the files anew: look at the diff then.
 */
export async function expectGolden(name: string, actual: string): Promise<void> {
  const path = join(goldenDirectory, name);
  if (process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(dirname(path), { recursive: true });
    await Bun.write(path, actual);
    return;
  }
  if (!existsSync(path)) throw new Error(`${path} does not exist: run this test with UPDATE_GOLDEN=1`);
  expect(actual, `${name}; UPDATE_GOLDEN=1 writes it anew`).toBe(await Bun.file(path).text());
}
