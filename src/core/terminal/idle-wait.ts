import { drainMaxMs, quietAfterExitMs } from "../limits.ts";

/** A background process may hold a terminal open for as long as it likes: resolves when it prints nothing, or soon. */
export async function silence(chunks: () => number): Promise<void> {
  const deadline = performance.now() + drainMaxMs;
  for (let before = -1; before !== chunks() && performance.now() < deadline; ) {
    before = chunks();
    await Bun.sleep(quietAfterExitMs);
  }
}
