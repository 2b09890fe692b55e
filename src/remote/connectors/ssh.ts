// A daemon on another machine, by OpenSSH: its configuration, keys, agents and known hosts are used as they are.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../run-program.ts";
import {
  type Channel,
  type ConnectorContext,
  type ShellConnection,
  type ShellConnectorOptions,
  shellConnector,
} from "./shell-connector.ts";

export interface SshSpec extends ShellConnectorOptions {
  /** A host of the configuration, `name` or `user@name`. */
  host: string;
  port?: number | undefined;
  identity_file?: string | undefined;
  /** For ssh, as on its command line; they win over what is set here. */
  options?: readonly string[] | undefined;
}

const settings = [
  "BatchMode=yes", // there is nobody to ask
  "ConnectTimeout=15",
  // A link that died without a word is noticed within half a minute.
  "ServerAliveInterval=10",
  "ServerAliveCountMax=3",
  // What the configuration has for people who log in.
  "ClearAllForwardings=yes",
  "RemoteCommand=none",
  "RequestTTY=no",
];

/** The shared connection stays so long when nobody uses it, so that the next link is there at once. */
const persistS = 60;

/** To be asked to end takes it no time. */
const exitMaxMs = 2000;

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
  /** Of the connection that all links share. */
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

  /** A machine that cannot be reached may come back, and its daemon may have lived on. */
  isGone(): boolean {
    return false;
  }

  /** The next link makes a connection of its own. This one ends when it notices what has become of it. */
  stuck(): void {
    this.#controlDir = undefined;
  }

  async dispose(): Promise<void> {
    if (this.#controlDir === undefined) return;
    const argv = [...this.#ssh(), "-O", "exit", "--", this.#spec.host];
    // One that is stuck does not hear it; where there is no ssh, there is none to be ended.
    await runProgram(argv, { env: this.#context.env, maxMs: exitMaxMs }).catch(() => {});
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
      ...options, // the first one counts
      ...(port === undefined ? [] : ["-p", String(port)]),
      ...(identity_file === undefined ? [] : ["-i", identity_file]),
      ...[...settings, ...shared].flatMap((setting) => ["-o", setting]),
    ];
  }
}
