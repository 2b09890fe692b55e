// Names of sessions, in any shell: asked of the daemon, quietly. Without one there are none, and nothing is said.

/**
 * A pipeline that prints a name or id a line. Each entry of `trl ls --json` is a flat object, so that a line for each
 * "{" is a line for each entry. Only names that need no quoting are offered.
 */
export function namesPipeline(ls: string, kind: "sessions" | "terminals"): string {
  const plain = "[A-Za-z0-9._-][A-Za-z0-9._-]*";
  const field = (name: string) => `s/.*"${name}":"\\(${plain}\\)".*/\\1/p`;
  const wanted = kind === "terminals" ? '/"kind":"pty"/' : '/"kind":/';
  const script = `/"state":"exited"/d; ${wanted}!d; h; ${field("session_id")}; g; ${field("name")}`;
  return `command ${ls} </dev/null 2>/dev/null | tr '{' '\\n' | sed -n '${script}' | sort -u`;
}
