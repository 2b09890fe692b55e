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
