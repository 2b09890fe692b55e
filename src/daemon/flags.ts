// The daemon's flags: one table, from which the command line, the environment (TRL_<NAME>) and the help are derived.

interface Flag {
  kind: "string" | "count" | "seconds" | "boolean";
  help: string;
  hint?: string;
  alias?: string;
  default?: string | number;
  choices?: readonly string[];
}

export const flags = {
  "socket-path": {
    kind: "string",
    hint: "PATH",
    alias: "socket",
    help: "Unix socket to listen on (/tmp/trl.sock)",
  },
  "socket-dir": {
    kind: "string",
    hint: "DIR",
    help: "Listen on DIR/trl.sock; DIR is created if it is missing",
  },
  stdin: {
    kind: "boolean",
    help: "Serve standard input and output instead of a socket; stop at the end of the input",
  },
  http: {
    kind: "string",
    hint: "HOST:PORT",
    help: "Listen for HTTP and WebSocket as well, such as 127.0.0.1:9100",
  },
  "allow-origin": {
    kind: "string",
    hint: "ORIGINS",
    help: "Origins of web pages that may use HTTP and WebSocket, separated by commas",
  },
  "tls-cert": { kind: "string", hint: "FILE", help: "Certificate for HTTPS (PEM)" },
  "tls-key": { kind: "string", hint: "FILE", help: "Key of the certificate (PEM)" },
  "insecure-http": {
    kind: "boolean",
    help: "Listen without TLS on an address that other machines can reach",
  },
  announce: {
    kind: "string",
    hint: "WHEN",
    choices: ["auto", "on", "off"],
    default: "auto",
    help: "Write the discovery file: on, off, or auto, which is off for a daemon that is private to its caller",
  },
  "runtime-dir": {
    kind: "string",
    hint: "DIR",
    help: "Directory of the discovery files ($XDG_RUNTIME_DIR/trl, else /tmp/trl-UID)",
  },
  journal: {
    kind: "string",
    hint: "WHETHER",
    choices: ["on", "off"],
    default: "on",
    help: "Journal beside the socket, for recovery after the daemon is killed: on or off",
  },
  config: {
    kind: "string",
    hint: "FILE",
    help: "Runtimes and labels (~/.config/trl/config.toml, if it exists)",
  },
  runtime: {
    kind: "string",
    hint: "NAME=KIND:TARGET",
    help: "Runtime for sessions, such as gpu=ssh:user@host; may be given more than once",
  },
  labels: { kind: "string", hint: "LABELS", help: "Labels of this daemon, such as gpu,isolated" },
  "run-dir": {
    kind: "string",
    hint: "DIR",
    help: "Parent of the private run directory ($XDG_RUNTIME_DIR, else /dev/shm, else /tmp)",
  },
  "executables-dir": {
    kind: "string",
    hint: "DIR",
    help: "Builds of trl (trl-linux-arm64, ...) for runtimes on other machines (beside this program)",
  },
  shell: { kind: "string", hint: "SHELL", help: "Default shell of sessions (bash, else /bin/sh)" },
  "default-timeout-s": { kind: "seconds", default: 60, help: "Default time limit of a command; 0 = none" },
  "max-output-bytes": { kind: "count", default: 4194304, help: "Output kept per stream of a command" },
  "max-line-bytes": { kind: "count", default: 16777216, help: "Longest request line" },
  "stall-timeout-s": {
    kind: "seconds",
    default: 30,
    help: "Disconnect a stream's client that reads nothing for so long; 0 = never",
  },
  "max-sessions": { kind: "count", default: 64, help: "Sessions at a time" },
  "max-idle-sec": {
    kind: "seconds",
    default: 3600,
    help: "End a session that is idle for so long; 0 = never",
  },
  "session-ttl-sec": { kind: "seconds", default: 86400, help: "End a session of this age; 0 = never" },
  "session-max-commands": { kind: "count", default: 1000, help: "Commands per session; 0 = no limit" },
  "session-max-processes": {
    kind: "count",
    default: 0,
    help: "Processes per session or terminal; 0 = no limit",
  },
  "connection-max-sessions": {
    kind: "count",
    default: 0,
    help: "Sessions and terminals that one connection may create; 0 = no limit",
  },
  "connection-max-commands": {
    kind: "count",
    default: 256,
    help: "Commands of one connection that run at a time; 0 = no limit",
  },
  "connection-max-requests": {
    kind: "count",
    default: 1024,
    help: "Requests of one connection that are handled at a time; more wait",
  },
  "connection-max-bytes": {
    kind: "count",
    default: 8388608,
    help: "Unread replies of one connection; with more, its requests wait",
  },
  "inherit-env": {
    kind: "string",
    hint: "MODE",
    choices: ["all", "safe", "none"],
    default: "all",
    help: "Variables of the daemon that sessions inherit: all, safe (no credentials) or none",
  },
  "env-include": {
    kind: "string",
    hint: "PATTERNS",
    help: "Names that are always inherited, such as LC_*,TZ",
  },
  "env-exclude": { kind: "string", hint: "PATTERNS", help: "Names that are never inherited, such as AWS_*" },
  "idle-exit-s": {
    kind: "seconds",
    default: 0,
    help: "Stop after so long without a client and a session; 0 = never",
  },
  "fd-warning-threshold": {
    kind: "count",
    default: 0,
    help: "Open descriptors from which new sessions are refused; 0 = 80 % of the limit",
  },
  "memory-pressure-mb": {
    kind: "count",
    default: 0,
    help: "Memory of the daemon from which new sessions are refused; 0 = off",
  },
  "pty-driver": {
    kind: "string",
    hint: "DRIVER",
    choices: ["auto", "native", "bun-pty"],
    default: "auto",
    help: "Driver of terminals: native (Bun's own), bun-pty, or auto, which is native",
  },
  "env-file": {
    kind: "string",
    hint: "FILE",
    help: "Variables for the daemon and its sessions (KEY=VALUE lines)",
  },
  "log-format": {
    kind: "string",
    hint: "FORMAT",
    choices: ["pretty", "json"],
    default: "pretty",
    help: "Format of the log on stderr: pretty or json",
  },
  verbose: { kind: "boolean", help: "Log each command" },
  "allow-root": { kind: "boolean", help: "Do not warn when started as root" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;
export type FlagTable = Record<FlagName, Flag>;

export const environmentName = (flag: string): string => `TRL_${flag.toUpperCase().replaceAll("-", "_")}`;
