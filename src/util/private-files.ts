// Creates files and directories for their owner only, whatever umask the program was started with: a stricter one would
// take the owner's access, a looser one would leave them open until a chmod.

/** Files and directories that `create` makes synchronously have mode 0600 or 0700. */
export function withPrivateUmask<T>(create: () => T): T {
  const umask = process.umask(0o077);
  try {
    return create();
  } finally {
    process.umask(umask);
  }
}
