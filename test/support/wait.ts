/** What a test may take: it ends one that hangs, and none on a machine that is busy. */
export const testMs = 60_000;

/** What has not come by then never will. It is less than the test has, so that it is said what was missing. */
export const hangMs = 50_000;

/** Waits for a fact, not for time to pass; fails loudly when it never comes. */
export async function until<T>(
  what: string,
  fact: () => T | Promise<T>,
  timeoutMs = hangMs,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await fact();
    if (value) return value as NonNullable<T>;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await Bun.sleep(5);
  }
}
