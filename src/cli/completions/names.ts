// A shell pipeline that asks the daemon for names of sessions. Without a daemon it prints nothing.

/**
 * Prints one name or id per line. Each entry of `trl ls --json` is a flat object, so splitting at "{" gives one line
 * per entry. Names that need quoting are left out.
 */
export function namesPipeline(ls: string, kind: "sessions" | "terminals"): string {
  const plain = "[A-Za-z0-9._-][A-Za-z0-9._-]*";
  const field = (name: string) => `s/.*"${name}":"\\(${plain}\\)".*/\\1/p`;
  const wanted = kind === "terminals" ? '/"kind":"pty"/' : '/"kind":/';
  const script = `/"state":"exited"/d; ${wanted}!d; h; ${field("session_id")}; g; ${field("name")}`;
  return `command ${ls} </dev/null 2>/dev/null | tr '{' '\\n' | sed -n '${script}' | sort -u`;
}
