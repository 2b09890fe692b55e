// Cleans up at the end of a run, however it ends: directories, daemons, servers of tmux.
const leavings = new Set<() => void>();

process.on("exit", () => {
  for (const remove of [...leavings].reverse()) remove();
});
process.on("SIGINT", () => process.exit(130));
process.on("SIGTERM", () => process.exit(143));

/** Registers a cleanup for the end of the process; the returned function removes it again. */
export function leaving(remove: () => void): () => void {
  leavings.add(remove);
  return () => leavings.delete(remove);
}
