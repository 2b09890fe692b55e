const timerMaxMs = 2 ** 31 - 1;

/** A timer without setTimeout's overflow at 2^31 ms. Returns what stops it; 0 and Infinity never fire. */
export function afterSeconds(seconds: number, fire: () => void): () => void {
  const due = performance.now() + seconds * 1000;
  let timer: Timer | undefined;
  const arm = () => {
    const left = due - performance.now();
    if (left <= 0) fire();
    else timer = setTimeout(arm, Math.min(Math.ceil(left), timerMaxMs));
  };
  if (seconds > 0 && seconds !== Number.POSITIVE_INFINITY) arm();
  return () => clearTimeout(timer);
}

/** What is left of a time limit; one that is over fires at once, and 0 is still none. */
export const leftOf = (seconds: number, elapsedMs: number): number =>
  seconds > 0 ? Math.max(0.001, seconds - elapsedMs / 1000) : seconds;
