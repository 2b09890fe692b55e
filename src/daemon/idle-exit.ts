// A daemon that was started for somebody and has nothing left to keep is not left behind for ever.

const looksPerWait = 10;
const lookEveryMaxMs = 60_000;

/** Resolves when nobody has been busy for so long; 0 = never. */
export function untilIdle(idleS: number, isBusy: () => boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  if (idleS === 0) return promise;
  const idleMs = idleS * 1000;
  let lastBusy = performance.now();
  const look = () => {
    if (isBusy()) lastBusy = performance.now();
    if (performance.now() - lastBusy < idleMs) return;
    clearInterval(timer);
    resolve(`idle for ${idleS} s`);
  };
  const timer = setInterval(look, Math.min(idleMs / looksPerWait, lookEveryMaxMs));
  return promise;
}
