/** The message of a system error, with a remedy for errors that do not suggest one. */
export function failureOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return code === "EFBIG" ? `${message} (files may not become so large here: raise ulimit -f)` : message;
}
