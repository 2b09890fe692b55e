/** What has not come by then never will, on a machine however busy. A test has 30 s: this says first what was missing. */
export const hangMs = 25_000;

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
