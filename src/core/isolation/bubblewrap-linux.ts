// A sandbox by bubblewrap: the system is read-only, /tmp the session's own, processes outside cannot be seen, and
// there is no network unless it was asked for. No privilege is left inside, not even root's.
import { existsSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { pinnedDirs, type SandboxSpec } from "./sandbox-spec.ts";

/**
 * bwrap waits outside for the program inside, and would be ended by a signal that is meant for the program. So it
 * ignores them all, and env(1) undoes that inside: only there is it possible, a shell may not.
 */
const signals = "HUP INT QUIT USR1 USR2 PIPE ALRM TERM TSTP TTIN TTOU".split(" ");
const ignoring = ["/bin/sh", "-c", `trap '' ${signals.join(" ")}; exec "$@"`, "trl"];

/** What must be possible for any sandbox to be. */
export const smallestSandbox = "--unshare-pid --ro-bind / / --dev /dev --proc /proc".split(" ");

/** bwrap outside, and the first process inside, which collects the orphans. */
export const bwrapProcesses = 2;

/**
 * Of /run nothing is shown: sockets of services lie there, and a service does for others what they cannot do
 * themselves.
 */
export function bubblewrapPrefix(bwrap: string, spec: SandboxSpec, workingDir: string): string[] {
  return [
    ...ignoring,
    bwrap,
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(spec.network ? [] : ["--unshare-net"]),
    ...["--cap-drop", "ALL"],
    ...view(spec),
    ...["--chdir", workingDir, "--"],
    ...["/usr/bin/env", `--default-signal=${signals.join(",")}`],
  ];
}

/** What lies deeper comes later, and covers what it lies in. */
function view(spec: SandboxSpec): string[] {
  const { root, network, privateTmp, writable, hidden, ownDir } = spec;
  const inRoot = (path: string) => (root === "/" ? path : join(root, path));
  const isShown = (path: string) => writable.some((shown) => path.startsWith(`${shown}/`));
  const isCovered = (path: string) =>
    (/^\/(?:dev|proc|run)(?:\/|$)/.test(path) || (privateTmp && path.startsWith("/tmp/"))) && !isShown(path);
  const secrets = spec.secrets.filter((path) => !isCovered(path));
  const pinned = pinnedDirs({ ...spec, secrets }); // the kernel does not rename a mount point
  const mounts: Mount[] = [
    { at: "/", options: ["--ro-bind", root, "/"] },
    { at: "/dev", options: ["--dev", "/dev"] },
    { at: "/proc", options: ["--proc", "/proc"] },
    ...kernelSettings.map((at) => ({ at, options: ["--ro-bind-try", at, at] })),
    ...(existsSync(inRoot("/run")) ? [{ at: "/run", options: ["--tmpfs", "/run"] }] : []),
    ...(privateTmp ? [{ at: "/tmp", options: ["--bind", privateTmp, "/tmp"] }] : []),
    ...(network && root === "/" ? resolverFile() : []),
    ...writable.map((path) => ({ at: path, options: ["--bind", inRoot(path), path] })),
    ...pinned.map((path) => ({ at: path, options: ["--bind-try", inRoot(path), path] })),
    ...hidden.flatMap((path) => hide(inRoot(path), path)),
    ...secrets.flatMap((path) => hide(inRoot(path), path)),
    ...(ownDir ? [{ at: ownDir, options: ["--bind", ownDir, ownDir] }] : []),
  ];
  return mounts.toSorted((a, b) => depthOf(a.at) - depthOf(b.at)).flatMap(({ options }) => options);
}

/**
 * What the kernel lets be written to by whoever is user 0, without any capability: with /proc/sys/kernel/core_pattern
 * alone, root would be out. bwrap covers some of it, but not for a daemon that is root.
 */
const kernelSettings = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver"].map(
  (name) => `/proc/${name}`,
);

interface Mount {
  at: string;
  options: string[];
}

const depthOf = (path: string) => path.split("/").filter(Boolean).length;

/** A directory is empty inside, a file too. */
function hide(host: string, at: string): Mount[] {
  const found = statSync(host, { throwIfNoEntry: false });
  if (!found) return [];
  return [{ at, options: found.isDirectory() ? ["--tmpfs", at] : ["--ro-bind", "/dev/null", at] }];
}

/** Names are resolved by a file that usually lies in /run. */
function resolverFile(): Mount[] {
  try {
    const file = realpathSync("/etc/resolv.conf");
    return file.startsWith("/run/") ? [{ at: file, options: ["--ro-bind", file, file] }] : [];
  } catch {
    return [];
  }
}
