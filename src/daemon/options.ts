// Reads flags and environment into typed options. A flag wins over TRL_<NAME>, which wins over --env-file.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { EnvPolicy } from "../core/options.ts";
import type { ConnectionLimits } from "../server/quota.ts";
import { discoveryDirs } from "../util/runtime-dir.ts";
import { resolveSocketPath } from "../util/socket-path.ts";
import type { KnownRuntime } from "./config.ts";
import { environmentName, type FlagName, type FlagTable, flags } from "./flags.ts";
import { type HttpListenerOptions, readHttpOptions } from "./http-options.ts";
import { OptionError } from "./option-error.ts";
import { readRuntimeOptions } from "./runtime-options.ts";

export interface DaemonOptions {
  socketPath: string;
  socketDir: string | undefined;
  /** False with --stdin, unless a flag names a socket as well. */
  hasSocket: boolean;
  isStdin: boolean;
  /** A temporary daemon, which ends with its caller. */
  isForCaller: boolean;
  /** Whether it writes a journal, from which its successor recovers if this daemon is killed. */
  hasJournal: boolean;
  http: HttpListenerOptions | undefined;
  /** Directory of the discovery file; undefined = none is written. */
  announcementsDir: string | undefined;
  /** Parent of the private run directory; undefined = a memory file system if there is one. */
  runDir: string | undefined;
  executablesDir: string | undefined;
  runtimes: KnownRuntime[];
  /** Labels of this daemon, by which clients choose a runtime. */
  labels: string[];
  shell: string | undefined;
  defaultTimeoutS: number;
  maxOutputBytes: number;
  maxLineBytes: number;
  stallTimeoutS: number;
  maxSessions: number;
  maxIdleS: number;
  sessionTtlS: number;
  sessionMaxCommands: number;
  sessionMaxProcesses: number;
  connectionLimits: ConnectionLimits;
  envPolicy: EnvPolicy;
  idleExitS: number;
  fdWarningThreshold: number;
  memoryPressureMb: number;
  ptyDriver: "auto" | "native" | "bun-pty";
  logFormat: "pretty" | "json";
  isVerbose: boolean;
  allowsRoot: boolean;
  /** The daemon's environment. It wins over --env-file. */
  env: Record<string, string>;
}

export type GivenFlags = Partial<Record<FlagName, string | boolean | undefined>>;

export function readOptions(
  given: GivenFlags,
  processEnv: Record<string, string | undefined>,
): DaemonOptions {
  const env = withEnvFile(
    given["env-file"] ?? (processEnv[environmentName("env-file")] || undefined),
    processEnv,
  );
  const text = (name: FlagName) => textOf(name, given, env);
  const number = (name: FlagName) => numberOf(name, text(name));
  const isOn = (name: FlagName) => switchOf(name, text(name));
  const socket = {
    socketPath: text("socket-path"),
    socketDir: text("socket-dir"),
  };
  // A flag wins over a variable, also over the variable of the other flag.
  if (given["socket-dir"] !== undefined && given["socket-path"] === undefined) socket.socketPath = undefined;
  const hasSocket = !isOn("stdin") || given["socket-path"] !== undefined || given["socket-dir"] !== undefined;
  const isForCaller = env[environmentName("lifeline")] !== undefined;
  return {
    socketPath: resolveSocketPath(socket),
    socketDir: socket.socketPath === undefined ? socket.socketDir : undefined,
    hasSocket,
    isStdin: isOn("stdin"),
    isForCaller,
    hasJournal: text("journal") === "on" && hasSocket && !isForCaller,
    http: readHttpOptions(text, isOn("insecure-http")),
    announcementsDir: discoveryDir(
      text("announce"),
      { hasSocket, isPrivate: isOn("stdin") || isForCaller },
      {
        ...env,
        TRL_RUNTIME_DIR: absolute(text("runtime-dir")),
      },
    ),
    runDir: absolute(text("run-dir")),
    executablesDir: text("executables-dir"),
    ...readRuntimeOptions(text, env),
    shell: text("shell"),
    defaultTimeoutS: number("default-timeout-s"),
    maxOutputBytes: number("max-output-bytes"),
    maxLineBytes: number("max-line-bytes"),
    stallTimeoutS: number("stall-timeout-s"),
    maxSessions: number("max-sessions"),
    maxIdleS: number("max-idle-sec"),
    sessionTtlS: number("session-ttl-sec"),
    sessionMaxCommands: number("session-max-commands"),
    sessionMaxProcesses: number("session-max-processes"),
    connectionLimits: {
      sessions: number("connection-max-sessions"),
      commands: number("connection-max-commands"),
      requests: atLeastOne("connection-max-requests", number),
      queuedBytes: number("connection-max-bytes"),
    },
    envPolicy: {
      mode: text("inherit-env") as EnvPolicy["mode"],
      include: patternsIn(text("env-include")),
      exclude: patternsIn(text("env-exclude")),
    },
    idleExitS: number("idle-exit-s"),
    fdWarningThreshold: number("fd-warning-threshold"),
    memoryPressureMb: number("memory-pressure-mb"),
    ptyDriver: text("pty-driver") as DaemonOptions["ptyDriver"],
    logFormat: text("log-format") as "pretty" | "json",
    isVerbose: isOn("verbose"),
    allowsRoot: isOn("allow-root"),
    env,
  };
}

const patternsIn = (text: string | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((pattern) => pattern.trim())
    .filter(Boolean);

/** A limit of 0 would block every request. */
function atLeastOne(name: FlagName, number: (name: FlagName) => number): number {
  const value = number(name);
  if (value < 1) throw new OptionError(`--${name} needs a whole number >= 1, not "${value}"`);
  return value;
}

/** With `auto`, a daemon that is private to its caller writes no discovery file. */
function discoveryDir(
  when: string | undefined,
  { hasSocket, isPrivate }: { hasSocket: boolean; isPrivate: boolean },
  env: Record<string, string | undefined>,
): string | undefined {
  if (when === "on" && !hasSocket) throw new OptionError("--announce on needs a socket to lead to");
  return when === "on" || (when === "auto" && !isPrivate) ? discoveryDirs(env)[0] : undefined;
}

const absolute = (path: string | undefined) => (path === undefined ? undefined : resolve(path));

function textOf(name: FlagName, given: GivenFlags, env: Record<string, string>): string | undefined {
  const flag = (flags as FlagTable)[name];
  const value = given[name] ?? (env[environmentName(name)] || undefined) ?? flag.default;
  if (value === undefined) return undefined;
  if (value === "") throw new OptionError(`--${name} needs a value`);
  if (flag.choices && !flag.choices.includes(String(value))) {
    throw new OptionError(`--${name} is one of ${flag.choices.join(", ")}, not "${value}"`);
  }
  return String(value);
}

const switchWords: Record<string, boolean> = {
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};

function switchOf(name: FlagName, text: string | undefined): boolean {
  const value = switchWords[text?.toLowerCase() ?? "false"];
  if (value === undefined) throw new OptionError(`--${name} is on or off, not "${text}"`);
  return value;
}

function numberOf(name: FlagName, text: string | undefined): number {
  const value = text?.trim() ? Number(text) : Number.NaN;
  const isWhole = (flags as FlagTable)[name].kind === "count";
  if (Number.isNaN(value) || value < 0 || (isWhole && !Number.isInteger(value))) {
    throw new OptionError(
      `--${name} needs ${isWhole ? "a whole number" : "a number of seconds"} >= 0, not "${text}"`,
    );
  }
  return value;
}

function withEnvFile(path: unknown, processEnv: Record<string, string | undefined>): Record<string, string> {
  const own = Object.fromEntries(Object.entries(processEnv).filter(([, value]) => value !== undefined));
  if (typeof path !== "string") return own as Record<string, string>;
  try {
    return { ...parseEnv(readFileSync(path, "utf8")), ...own } as Record<string, string>;
  } catch (error) {
    throw new OptionError(`--env-file: ${(error as Error).message}`);
  }
}
