/** A value that is computed on first use and then kept. */
export function lazy<T>(compute: () => T): () => T {
  let known: { value: T } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}

/** A pure function that keeps its last result, for callers that ask the same several times in a row. */
export function rememberLast<K, T>(compute: (key: K) => T): (key: K) => T {
  let last: { key: K; value: T } | undefined;
  return (key) => {
    if (!last || last.key !== key) last = { key, value: compute(key) };
    return last.value;
  };
}
