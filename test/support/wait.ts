/** Waits for a fact, not for time to pass; fails loudly when it never comes. */
export async function until<T>(
  what: string,
  fact: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await fact();
    if (value) return value as NonNullable<T>;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await Bun.sleep(5);
  }
}
