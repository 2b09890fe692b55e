const timerMaxMs = 2 ** 31 - 1;

/** A timer without setTimeout's overflow at 2^31 ms. Returns a function that cancels it; 0 and Infinity never fire. */
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

/** The rest of a time limit in seconds: at least 0.001, so that an elapsed limit fires; 0 stays 0, for no limit. */
export const leftOf = (seconds: number, elapsedMs: number): number =>
  seconds > 0 ? Math.max(0.001, seconds - elapsedMs / 1000) : seconds;
