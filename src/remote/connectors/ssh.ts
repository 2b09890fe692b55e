// Connector for another machine, by OpenSSH, with its own configuration, keys, agents and known hosts.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../run-program.ts";
import type { ConnectorContext } from "./connector.ts";
import {
  type Channel,
  type ShellConnection,
  type ShellConnectorOptions,
  shellConnector,
} from "./shell-connector.ts";

export interface SshSpec extends ShellConnectorOptions {
  /** A host of ssh's configuration, `name` or `user@name`. */
  host: string;
  port?: number | undefined;
  identity_file?: string | undefined;
  /** Command line options for ssh, which override the settings here. */
  options?: readonly string[] | undefined;
}

const settings = [
  "BatchMode=yes", // there is no terminal to ask for a password
  "ConnectTimeout=15",
  // ssh exits within half a minute after the network has failed.
  "ServerAliveInterval=10",
  "ServerAliveCountMax=3",
  // These settings of the configuration are for interactive logins.
  "ClearAllForwardings=yes",
  "RemoteCommand=none",
  "RequestTTY=no",
];

/** The shared connection stays this long without links, so that the next link opens at once. */
const persistS = 60;

/** `ssh -O exit` takes no time unless the shared connection is stuck. */
const exitTimeoutMs = 2000;

export function sshConnector(spec: SshSpec, context: ConnectorContext): ShellConnection {
  return shellConnector(new SshChannel(spec, context), context, spec);
}

class SshChannel implements Channel {
  readonly label: string;
  readonly target: string;
  readonly isContainer = false;
  readonly isSlow = true;
  readonly #spec: SshSpec;
  readonly #context: ConnectorContext;
  /** Directory with the control socket of the connection that all links share. */
  #controlDir: string | undefined;

  constructor(spec: SshSpec, context: ConnectorContext) {
    this.#spec = spec;
    this.#context = context;
    this.target = spec.port === undefined ? spec.host : `${spec.host}:${spec.port}`;
    this.label = `ssh ${this.target}`;
  }

  async command(script: string): Promise<string[]> {
    return [...this.#ssh(), "--", this.#spec.host, `exec sh -c '${script}'`];
  }

  /** A machine that cannot be reached may come back, and its daemon may still run. */
  isGone(): boolean {
    return false;
  }

  /** The next link opens a new shared connection. The stuck one exits by its keep-alive timeout. */
  stuck(): void {
    this.#controlDir = undefined;
  }

  async dispose(): Promise<void> {
    if (this.#controlDir === undefined) return;
    const argv = [...this.#ssh(), "-O", "exit", "--", this.#spec.host];
    // Best effort: a stuck connection does not answer, and without ssh there is no connection.
    await runProgram(argv, { env: this.#context.env, timeoutMs: exitTimeoutMs }).catch(() => {});
    rmSync(this.#controlDir, { recursive: true, force: true });
    this.#controlDir = undefined;
  }

  #ssh(): string[] {
    const { port, identity_file, options = [] } = this.#spec;
    this.#controlDir ??= mkdtempSync(join(this.#context.runDir, "ssh-"));
    const shared = [
      "ControlMaster=auto",
      `ControlPath="${join(this.#controlDir, "m").replaceAll("%", "%%")}"`,
      `ControlPersist=${persistS}`,
    ];
    return [
      "ssh",
      "-T",
      ...options, // of several values for one setting, ssh uses the first
      ...(port === undefined ? [] : ["-p", String(port)]),
      ...(identity_file === undefined ? [] : ["-i", identity_file]),
      ...[...settings, ...shared].flatMap((setting) => ["-o", setting]),
    ];
  }
}
