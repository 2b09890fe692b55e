// The sandbox of Linux, bubblewrap: a read-only system, a private /tmp, no view of processes outside, no capabilities
// even for root, and no network unless requested.
import { existsSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { pinnedDirs, type SandboxSpec } from "./sandbox-spec.ts";

/**
 * bwrap waits outside for the program inside, and a signal to the process group would end bwrap first. So bwrap is
 * started with all signals ignored, and env(1) resets them inside: POSIX shells cannot reset ignored signals.
 */
const signals = "HUP INT QUIT USR1 USR2 PIPE ALRM TERM TSTP TTIN TTOU".split(" ");
const ignoring = ["/bin/sh", "-c", `trap '' ${signals.join(" ")}; exec "$@"`, "trl"];

/** The options that every sandbox needs, for a trial. */
export const smallestSandbox = "--unshare-pid --ro-bind / / --dev /dev --proc /proc".split(" ");

/** bwrap outside, and its init process inside, which reaps orphans. */
export const bwrapProcesses = 2;

/**
 * Hides all of /run: it has the sockets of services, and a service acts outside of the sandbox for its clients.
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

/** Mounts are sorted by depth, so that a deeper mount covers a part of the one above it. */
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
 * Kernel settings that user 0 can write to without any capability. /proc/sys/kernel/core_pattern alone lets root
 * escape. bwrap covers some of them, but not if the daemon runs as root.
 */
const kernelSettings = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver"].map(
  (name) => `/proc/${name}`,
);

interface Mount {
  at: string;
  options: string[];
}

const depthOf = (path: string) => path.split("/").filter(Boolean).length;

/** A hidden directory or file exists inside, but is empty. */
function hide(host: string, at: string): Mount[] {
  const found = statSync(host, { throwIfNoEntry: false });
  if (!found) return [];
  return [{ at, options: found.isDirectory() ? ["--tmpfs", at] : ["--ro-bind", "/dev/null", at] }];
}

/** /etc/resolv.conf is usually a symbolic link into /run, which is hidden. */
function resolverFile(): Mount[] {
  try {
    const file = realpathSync("/etc/resolv.conf");
    return file.startsWith("/run/") ? [{ at: file, options: ["--ro-bind", file, file] }] : [];
  } catch {
    return [];
  }
}
