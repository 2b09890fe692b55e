// What would lead out of a sandbox: other daemons of this user, and services that do for their clients what those cannot
// do themselves. All of them are reached by sockets, which a read-only view does not close.
import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { hasOwnDirName } from "../../platform/abandoned-dirs.ts";
import { discoveryFilesIn, readDiscoveryFile } from "../../util/discovery-files.ts";
import { isOwnDir } from "../../util/runtime-dir.ts";
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
    ...runtimeDirs
      .filter(isControlledByUser)
      .flatMap((dir) => [
        ...daemonFilesIn(dir, home),
        ...[join(dir, "daemons")].filter(isOwnDir),
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

/** The directory, unless files that a command needs would be hidden with it. Links count by their targets. */
function wholeDir(dir: string, home: string): string[] {
  const real = realPath(dir);
  const isAbove = (path: string) => realPath(path).startsWith(real === "/" ? "/" : `${real}/`);
  const needed = [home, "/tmp", "/usr", "/bin/sh"];
  return needed.some((path) => realPath(path) === real || isAbove(path)) ? [] : [dir];
}

/** A link by another user in /tmp could lead to any directory, which would then be hidden. */
function isControlledByUser(dir: string): boolean {
  const uid = process.getuid?.();
  const link = lstatSync(dir, { throwIfNoEntry: false });
  const target = statSync(dir, { throwIfNoEntry: false });
  return link?.uid === uid && target?.uid === uid && target?.isDirectory() === true;
}

/** What is so named may be any directory; the user's own runtime directory is closed to others. */
function ownRuntimeDir(dir: string, home: string): string[] {
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  const isIt = stat?.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
  return isIt ? wholeDir(dir, home) : [];
}

/**
 * The files of each daemon that has announced itself there, or its directory where that holds nothing else. A command
 * that may write to the runtime directory can forge a file: only what is a socket or a private directory is hidden.
 */
function announcedIn(runtimeDir: string, home: string): string[] {
  return discoveryFilesIn(join(runtimeDir, "daemons")).flatMap((path) => {
    const announced = (readDiscoveryFile(path) ?? {}) as Record<string, unknown>;
    const { socket_path: socket, run_dir: runDir } = announced;
    const isRunDir = typeof runDir === "string" && hasOwnDirName(runDir) && isOwnDir(runDir);
    const run = isRunDir ? [runDir] : [];
    if (typeof socket !== "string" || !socket.startsWith("/")) return run;
    const dir = dirname(socket);
    const whole = isOwnDir(dir) && holdsDaemonFilesOnly(dir) ? wholeDir(dir, home) : [];
    return [...run, ...(whole.length > 0 ? whole : filesOf(socket))];
  });
}

/** The runtime directory as a whole, or the files of each socket in it: a daemon need not announce itself. */
function daemonFilesIn(runtimeDir: string, home: string): string[] {
  const whole = holdsDaemonFilesOnly(runtimeDir) ? wholeDir(runtimeDir, home) : [];
  if (whole.length > 0) return whole;
  const sockets = namesIn(runtimeDir).filter((name) => name.endsWith(".sock"));
  return sockets
    .map((name) => join(runtimeDir, name))
    .flatMap((path) => (isSocket(path) ? filesOf(path) : []));
}

function filesOf(socket: string): string[] {
  const files = [".token", ".pid", ".journal"].map((extension) => beside(socket, extension));
  return isSocket(socket) ? [socket, ...files] : files;
}

const isSocket = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;

const daemonFile = /^(?:\.\d+|.*\.(?:sock|token|pid|journal)|daemons|bin)$/;

/** TRL_RUNTIME_DIR and --socket-dir may name a directory with files of a project. */
const holdsDaemonFilesOnly = (dir: string) =>
  namesIn(dir).every((name) => daemonFile.test(name) || hasOwnDirName(name));

/** The path itself where it does not exist. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
