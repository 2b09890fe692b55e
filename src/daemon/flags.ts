// The daemon's flags: one table, from which the command line, the environment (TRL_<NAME>) and the help derive.

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
  "socket-dir": { kind: "string", hint: "DIR", help: "Listen on DIR/trl.sock; DIR is made if it is missing" },
  stdin: {
    kind: "boolean",
    help: "Speak on standard input and output, without a socket; ends when the input has ended",
  },
  http: {
    kind: "string",
    hint: "HOST:PORT",
    help: "Listen for HTTP and WebSocket as well, such as 127.0.0.1:9100",
  },
  "allow-origin": {
    kind: "string",
    hint: "ORIGINS",
    help: "Pages that may use HTTP and WebSocket, with commas between them",
  },
  "tls-cert": { kind: "string", hint: "FILE", help: "Certificate for HTTPS (PEM)" },
  "tls-key": { kind: "string", hint: "FILE", help: "Its key (PEM)" },
  "insecure-http": { kind: "boolean", help: "Listen without TLS on an address that others can reach" },
  announce: {
    kind: "string",
    hint: "WHEN",
    choices: ["auto", "on", "off"],
    default: "auto",
    help: "Be found by others of this user: on, off, or auto, which is unless it is private to its caller",
  },
  "runtime-dir": {
    kind: "string",
    hint: "DIR",
    help: "Where daemons are found ($XDG_RUNTIME_DIR/trl, else /tmp/trl-UID)",
  },
  journal: {
    kind: "string",
    hint: "WHETHER",
    choices: ["on", "off"],
    default: "on",
    help: "Note how commands and terminals ended, beside the socket, for the case that it is killed: on or off",
  },
  config: {
    kind: "string",
    hint: "FILE",
    help: "Runtimes and labels (~/.config/trl/config.toml, where it is there)",
  },
  runtime: {
    kind: "string",
    hint: "NAME=KIND:TARGET",
    help: "Another place for sessions, such as gpu=ssh:user@host; may be given more than once",
  },
  labels: { kind: "string", hint: "LABELS", help: "What this daemon has, such as gpu,isolated" },
  "run-dir": {
    kind: "string",
    hint: "DIR",
    help: "Where its private directory is made ($XDG_RUNTIME_DIR, else /dev/shm, else /tmp)",
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
    help: "A stream's client that takes nothing for so long is let go; 0 = never",
  },
  "max-sessions": { kind: "count", default: 64, help: "Sessions at a time" },
  "max-idle-sec": { kind: "seconds", default: 3600, help: "A session idle for so long is ended; 0 = never" },
  "session-ttl-sec": { kind: "seconds", default: 86400, help: "A session so old is ended; 0 = never" },
  "session-max-commands": { kind: "count", default: 1000, help: "Commands per session; 0 = no limit" },
  "session-max-processes": {
    kind: "count",
    default: 0,
    help: "Processes per session or terminal; 0 = no limit",
  },
  "connection-max-sessions": {
    kind: "count",
    default: 0,
    help: "Sessions and terminals that one connection may have made; 0 = no limit",
  },
  "connection-max-commands": {
    kind: "count",
    default: 256,
    help: "Commands of one connection that run at a time; 0 = no limit",
  },
  "connection-max-requests": {
    kind: "count",
    default: 1024,
    help: "Requests of one connection that are answered at a time; more wait",
  },
  "connection-max-bytes": {
    kind: "count",
    default: 8388608,
    help: "Replies that a connection has not read; with more it is not read either",
  },
  "inherit-env": {
    kind: "string",
    hint: "MODE",
    choices: ["all", "safe", "none"],
    default: "all",
    help: "What sessions inherit of the daemon's variables: all, safe (no credentials) or none",
  },
  "env-include": {
    kind: "string",
    hint: "PATTERNS",
    help: "Names that are inherited all the same, such as LC_*,TZ",
  },
  "env-exclude": { kind: "string", hint: "PATTERNS", help: "Names that are never inherited, such as AWS_*" },
  "idle-exit-s": {
    kind: "seconds",
    default: 0,
    help: "End when there was neither a client nor a session for so long; 0 = never",
  },
  "fd-warning-threshold": {
    kind: "count",
    default: 0,
    help: "Open descriptors from which new sessions are refused; 0 = 80 % of the limit",
  },
  "memory-pressure-mb": { kind: "count", default: 0, help: "The same for the daemon's memory; 0 = off" },
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
    help: "How to log, on stderr: pretty or json",
  },
  verbose: { kind: "boolean", help: "Log each command" },
  "allow-root": { kind: "boolean", help: "Do not warn when started as root" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;
export type FlagTable = Record<FlagName, Flag>;

export const environmentName = (flag: string): string => `TRL_${flag.toUpperCase().replaceAll("-", "_")}`;
