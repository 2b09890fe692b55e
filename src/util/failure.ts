/** Why the system refused something, and what to do where its words do not say it. */
export function failureOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return code === "EFBIG" ? `${message} (files may not become so large here: raise ulimit -f)` : message;
}
