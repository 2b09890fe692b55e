// Calls callbacks of the application.

/**
 * Exceptions from user callbacks are rethrown asynchronously, so one failing listener cannot break the others. Returns
 * a promise if the callback returned one; that promise never rejects.
 */
export function notify(callback: () => unknown): Promise<unknown> | undefined {
  const rethrow = (error: unknown) =>
    queueMicrotask(() => {
      throw error;
    });
  try {
    const result = callback();
    return isThenable(result) ? Promise.resolve(result).catch(rethrow) : undefined;
  } catch (error) {
    rethrow(error);
    return undefined;
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | undefined)?.then === "function";
