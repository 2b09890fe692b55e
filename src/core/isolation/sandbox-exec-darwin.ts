// The sandbox of macOS, sandbox-exec(1): a profile that denies writing and the network except for listed paths. It
// cannot mount another /tmp, so a private /tmp is a directory that TMPDIR names.
import { pinnedDirs, type SandboxSpec } from "./sandbox-spec.ts";

export const sandboxExec = "/usr/bin/sandbox-exec";

export const sandboxExecPrefix = (spec: SandboxSpec): string[] => [sandboxExec, "-p", sandboxProfile(spec)];

export function sandboxProfile(spec: SandboxSpec): string {
  const { network, privateTmp, writable, hidden, ownDir, secrets } = spec;
  const mayWrite = [...writable, ...(ownDir ? [ownDir] : []), ...(privateTmp ? [privateTmp] : [])];
  const lines = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* (regex #"^/dev/(null|zero|tty.*|fd/.*|stdout|stderr)$") ${mayWrite.map(subpath).join(" ")})`,
    ...[...hidden, ...secrets].map((path) => `(deny file-read* file-write* network* ${subpath(path)})`),
    ...pinnedDirs(spec).map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
    ...(network ? [] : ["(deny network*)"]),
  ];
  return lines.join("\n");
}

/** /tmp, /var and /etc are symbolic links into /private, and profiles need real paths. */
const quoted = (path: string) => JSON.stringify(path.replace(/^\/(?=(?:tmp|var|etc)(?:\/|$))/, "/private/"));
const subpath = (path: string) => `(subpath ${quoted(path)})`;
