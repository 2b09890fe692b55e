// How the application is told of something.

/**
 * What the application throws is its own: it is thrown where nobody else stands, and does not keep others from what is
 * theirs. Gives a promise where the application gave one, which is never rejected.
 */
export function told(tell: () => unknown): Promise<unknown> | undefined {
  const report = (error: unknown) =>
    queueMicrotask(() => {
      throw error;
    });
  try {
    const result = tell();
    return isThenable(result) ? Promise.resolve(result).catch(report) : undefined;
  } catch (error) {
    report(error);
    return undefined;
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | undefined)?.then === "function";
