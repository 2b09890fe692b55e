// Files and directories that are their owner's alone, whatever umask the program was started with: one that takes from
// the owner as well would leave us without them, one that takes nothing would leave them open for a moment.

/** What is made in it, at once, is 0600 or 0700. */
export function forOwnerAlone<T>(make: () => T): T {
  const umask = process.umask(0o077);
  try {
    return make();
  } finally {
    process.umask(umask);
  }
}
