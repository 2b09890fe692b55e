// Paths by which a program could escape its sandbox: sockets of this user's daemons, and of services that act for their
// clients (Docker, agents). A read-only mount does not prevent connecting to a socket, so these paths must be hidden.
import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { hasOwnDirName } from "../../platform/abandoned-dirs.ts";
import { discoveryFilesIn, readDiscoveryFile } from "../../util/discovery-files.ts";
import { isOwnDir } from "../../util/runtime-dir.ts";
import { beside } from "../../util/socket-path.ts";

export interface EscapePathsOptions {
  env: Record<string, string>;
  /** Runtime directories; their subdirectory `daemons` has the discovery files of this user's daemons. */
  runtimeDirs: string[];
}

/** The current paths, since daemons and agents start and stop. Some may not exist. */
export function escapePaths({ env, runtimeDirs }: EscapePathsOptions): string[] {
  const home = homedir();
  return [
    ...runtimeDirs
      .filter(isControlledByUser)
      .flatMap((dir) => [
        ...daemonFilesIn(dir, home),
        ...[join(dir, "daemons")].filter(isOwnDir),
        ...discoveredIn(dir, home),
      ]),
    ...(env["XDG_RUNTIME_DIR"] ? ownRuntimeDir(env["XDG_RUNTIME_DIR"], home) : []),
    ...socketVariables.flatMap((name) => socketIn(env[name] ?? "")),
    ...inHome.map((path) => join(home, path)),
    ...agentSockets.map((name) => join(env["GNUPGHOME"] ?? join(home, ".gnupg"), name)),
    ...(process.platform === "linux" ? systemServicesLinux : systemServicesDarwin),
    join(env["TMUX_TMPDIR"] ?? "/tmp", `tmux-${process.getuid?.()}`),
  ];
}

/** Variables with the address of a socket. */
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

/** The directories of sockets if a service has one, so that sockets created later are hidden, too. */
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

/** Without /run, which is always hidden. /var/run is usually a symbolic link to it, but not always. */
const systemServicesLinux = [
  "/var/run",
  "/var/lib/lxd/unix.socket",
  "/var/snap/lxd/common/lxd/unix.socket",
  "/var/lib/incus/unix.socket",
  "/tmp/.X11-unix",
  "/tmp/screens",
];

/** Not all of /var/run: it has the socket of the name resolver. */
const systemServicesDarwin = ["/var/run/docker.sock"];

/** The directory, unless that would hide files that commands need. Symbolic links are resolved. */
function wholeDir(dir: string, home: string): string[] {
  const real = realPath(dir);
  const isAbove = (path: string) => realPath(path).startsWith(real === "/" ? "/" : `${real}/`);
  const needed = [home, "/tmp", "/usr", "/bin/sh"];
  return needed.some((path) => realPath(path) === real || isAbove(path)) ? [] : [dir];
}

/** Another user could put a symbolic link in /tmp, and its target would be hidden. */
function isControlledByUser(dir: string): boolean {
  const uid = process.getuid?.();
  const link = lstatSync(dir, { throwIfNoEntry: false });
  const target = statSync(dir, { throwIfNoEntry: false });
  return link?.uid === uid && target?.uid === uid && target?.isDirectory() === true;
}

/** XDG_RUNTIME_DIR may name any directory. A real runtime directory belongs to the user and has no rights for others. */
function ownRuntimeDir(dir: string, home: string): string[] {
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  const isIt = stat?.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
  return isIt ? wholeDir(dir, home) : [];
}

/**
 * The files of each daemon with a discovery file, or its directory if that has no other files. A command with write
 * access to the runtime directory can forge a discovery file, so only sockets and private directories are hidden.
 */
function discoveredIn(runtimeDir: string, home: string): string[] {
  return discoveryFilesIn(join(runtimeDir, "daemons")).flatMap((path) => {
    const fields = (readDiscoveryFile(path) ?? {}) as Record<string, unknown>;
    const { socket_path: socket, run_dir: runDir } = fields;
    const isRunDir = typeof runDir === "string" && hasOwnDirName(runDir) && isOwnDir(runDir);
    const run = isRunDir ? [runDir] : [];
    if (typeof socket !== "string" || !socket.startsWith("/")) return run;
    const dir = dirname(socket);
    const whole = isOwnDir(dir) && hasOnlyDaemonFiles(dir) ? wholeDir(dir, home) : [];
    return [...run, ...(whole.length > 0 ? whole : filesOf(socket))];
  });
}

/** The runtime directory, or the files of each socket in it: not every daemon has a discovery file. */
function daemonFilesIn(runtimeDir: string, home: string): string[] {
  const whole = hasOnlyDaemonFiles(runtimeDir) ? wholeDir(runtimeDir, home) : [];
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

/** TRL_RUNTIME_DIR and --socket-dir may name a directory with other files. */
const hasOnlyDaemonFiles = (dir: string) =>
  namesIn(dir).every((name) => daemonFile.test(name) || hasOwnDirName(name));

/** Returns the path itself if it does not exist. */
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
