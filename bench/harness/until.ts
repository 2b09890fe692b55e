const timeoutMs = 60_000;

/** Polls until the condition holds. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within ${timeoutMs / 1000} s: ${isSo}`);
    await Bun.sleep(2);
  }
}
