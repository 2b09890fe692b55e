// A sandbox by sandbox-exec(1), the door that macOS has: a profile that forbids writing, and the network, apart from
// what is listed. There is no other /tmp: a private one is a directory that TMPDIR names.
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

/** The file system behind /tmp, /var and /etc is in /private. */
const quoted = (path: string) => JSON.stringify(path.replace(/^\/(?=(?:tmp|var|etc)(?:\/|$))/, "/private/"));
const subpath = (path: string) => `(subpath ${quoted(path)})`;
