// When warm shells are started ahead, and whose is dropped.
import { expect, test } from "bun:test";
import { loadAgeMs } from "../../../../src/core/limits.ts";
import { type WarmShellHolder, WarmShellPool } from "../../../../src/fast/warm-shells/warm-shell-pool.ts";

function pool(max: number) {
  const clock = { now: 0 };
  const shells = new WarmShellPool(max, 2, () => clock.now);
  const happened: string[] = [];
  const { promise: prepared, resolve } = Promise.withResolvers<void>();
  const holder = (name: string): WarmShellHolder => ({
    async dropShell() {
      happened.push(`drop ${name}`);
    },
    startWithState() {
      happened.push(`prepare ${name}`);
      resolve();
    },
  });
  return { clock, shells, happened, holder, prepared };
}

test("a machine whose processors all run commands is under load", () => {
  const { clock, shells, holder } = pool(10);
  const [a, b] = [holder("a"), holder("b")];
  shells.began(a);
  expect(shells.isUnderLoad).toBe(false);
  shells.began(b);
  expect(shells.isUnderLoad).toBe(true);
  shells.ended(a);
  expect(shells.isUnderLoad).toBe(false);
  shells.began(a);
  clock.now += loadAgeMs; // they have run for so long that they rather wait
  expect(shells.isUnderLoad).toBe(false);
});

test("what was put off is started when the load is over, and not for a session that runs or is gone", async () => {
  const { shells, happened, holder, prepared } = pool(10);
  const [a, b, c, d] = [holder("a"), holder("b"), holder("c"), holder("d")];
  for (const each of [a, b, c, d]) shells.began(each);
  for (const each of [b, c, d]) {
    shells.ended(each);
    shells.postpone(each);
  }
  shells.began(b);
  shells.release(c);
  expect(happened).toEqual([]);
  shells.ended(a);
  await prepared;
  expect(happened).toEqual(["prepare d"]);
});

test("a full pool drops the shell that was unused for longest", () => {
  const { shells, happened, holder } = pool(2);
  const [a, b, c] = [holder("a"), holder("b"), holder("c")];
  for (const each of [a, b, a]) shells.hold(each);
  expect(shells.hasCapacity).toBe(false);
  shells.hold(c);
  expect(happened).toEqual(["drop b"]);
});
