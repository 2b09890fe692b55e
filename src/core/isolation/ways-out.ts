// What would lead out of a sandbox: other daemons of this user, and services that do for their clients what those cannot
// do themselves. All of them are reached by sockets, which a read-only view does not close.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { beside } from "../../util/socket-path.ts";

export interface WaysOutOptions {
  env: Record<string, string>;
  /** Where daemons of this user announce themselves, in `daemons`. */
  runtimeDirs: string[];
}

/** As they are now: daemons and agents come and go. Some may not exist. */
export function waysOut({ env, runtimeDirs }: WaysOutOptions): string[] {
  const home = homedir();
  return [
    ...runtimeDirs.flatMap((dir) => [
      ...wholeDir(dir, home),
      join(dir, "daemons"),
      ...announcedIn(dir, home),
    ]),
    ...(env["XDG_RUNTIME_DIR"] ? ownRuntimeDir(env["XDG_RUNTIME_DIR"], home) : []),
    ...socketVariables.flatMap((name) => socketIn(env[name] ?? "")),
    ...inHome.map((path) => join(home, path)),
    ...agentSockets.map((name) => join(env["GNUPGHOME"] ?? join(home, ".gnupg"), name)),
    ...(process.platform === "linux" ? systemServicesLinux : systemServicesDarwin),
    join(env["TMUX_TMPDIR"] ?? "/tmp", `tmux-${process.getuid?.()}`),
  ];
}

/** Hold an address of a socket. */
const socketVariables = [
  "SSH_AUTH_SOCK",
  "GPG_AGENT_INFO",
  "DOCKER_HOST",
  "CONTAINER_HOST",
  "CONTAINERD_ADDRESS",
  "DBUS_SESSION_BUS_ADDRESS",
];

/** `/path`, `/path:PID:1` (GnuPG), `unix:///path` (Docker), `unix:path=/path,guid=...;...` (D-Bus). */
const socketIn = (address: string): string[] =>
  [...address.matchAll(/(?:^|;)(?:unix:(?:path=|\/\/))?(\/[^,;:]+)/g)].map((match) => match[1]!);

/** Directories for sockets where a service has one, so that what comes into them later is hidden, too. */
const inHome = [
  ".docker/run",
  ".docker/desktop",
  ".colima",
  ".lima",
  ".orbstack/run",
  ".rd",
  ".finch",
  ".local/share/containers/podman/machine",
  ".ssh/agent",
  ".1password/agent.sock",
  ".dbus",
  ".screen",
];

const agentSockets = [
  "S.gpg-agent",
  "S.gpg-agent.extra",
  "S.gpg-agent.browser",
  "S.gpg-agent.ssh",
  "S.scdaemon",
];

/** /run is never shown; where /var/run is no link to it, it is another of its kind. */
const systemServicesLinux = [
  "/var/run",
  "/var/lib/lxd/unix.socket",
  "/var/snap/lxd/common/lxd/unix.socket",
  "/var/lib/incus/unix.socket",
  "/tmp/.X11-unix",
  "/tmp/screens",
];

/** Of /var/run only this: names are resolved by a socket in there. */
const systemServicesDarwin = ["/var/run/docker.sock"];

/** Not where a command's own files would be hidden with it. */
function wholeDir(dir: string, home: string): string[] {
  const isAbove = (path: string) => path === dir || path.startsWith(dir === "/" ? "/" : `${dir}/`);
  return isAbove(home) || isAbove("/tmp") ? [] : [dir];
}

/** What is so named may be any directory; the user's own runtime directory is closed to others. */
function ownRuntimeDir(dir: string, home: string): string[] {
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  const isIt = stat?.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
  return isIt ? wholeDir(dir, home) : [];
}

/** The files of each daemon that has announced itself there, or its directory where that holds nothing else. */
function announcedIn(runtimeDir: string, home: string): string[] {
  const notes = join(runtimeDir, "daemons");
  return namesIn(notes).flatMap((name) => {
    const { socket_path: socket, run_dir: runDir } = noteIn(join(notes, name));
    const run = typeof runDir === "string" ? [runDir] : [];
    if (typeof socket !== "string") return run;
    const dir = dirname(socket);
    const whole = namesIn(dir).every((entry) => daemonFile.test(entry)) ? wholeDir(dir, home) : [];
    const files = [socket, ...[".token", ".pid", ".journal"].map((extension) => beside(socket, extension))];
    return [...run, ...(whole.length > 0 ? whole : files)];
  });
}

const daemonFile = /^(?:\.\d+|.*\.(?:sock|token|pid|journal)|daemons|bin)$/;

function noteIn(path: string): Record<string, unknown> {
  if (!basename(path).endsWith(".json")) return {};
  try {
    return (JSON.parse(readFileSync(path, "utf8")) ?? {}) as Record<string, unknown>;
  } catch {
    return {}; // it has just been withdrawn, or is none
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
