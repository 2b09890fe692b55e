const patienceMs = 60_000;

/** Asks until it is so. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within ${patienceMs / 1000} s: ${isSo}`);
    await Bun.sleep(2);
  }
}
