// What must not outlive a run, however it ends: directories, daemons, servers of tmux.
const leavings = new Set<() => void>();

process.on("exit", () => {
  for (const remove of [...leavings].reverse()) remove();
});
process.on("SIGINT", () => process.exit(130));
process.on("SIGTERM", () => process.exit(143));

/** Runs the given action at the end of the process, unless it is cancelled before. */
export function leaving(remove: () => void): () => void {
  leavings.add(remove);
  return () => leavings.delete(remove);
}
