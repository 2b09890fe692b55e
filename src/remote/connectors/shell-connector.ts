// Turns a way to run a shell script on a machine or in a container into a connector: the script runs `trl dial-stdio`
// there, which bridges to the remote daemon. If the executable is missing, it is copied first. The remote daemon
// outlives the link, so a new link finds its sessions unchanged.
import {
  type Carrier,
  type CarrierEvents,
  NoDaemonError,
  type OpenCarrier,
} from "../../client/carriers/carrier.ts";
import { TrlError } from "../../protocol/errors.ts";
import { randomHex } from "../../util/random.ts";
import { copyTo } from "../provision/copy.ts";
import { connectScript } from "../provision/scripts.ts";
import type { Connector, ConnectorContext } from "./connector.ts";
import { RemoteShellCommand } from "./remote-command.ts";

export interface ShellConnection extends Connector {
  find: OpenCarrier;
  /** Removes what was created for the links. A remote daemon lives on, unless its container is removed. */
  dispose(): Promise<void>;
}

/** The runtime can be reached, but no daemon runs there yet. Lists and searches do not count this as a failure. */
export class NotStartedError extends NoDaemonError {}

/** A way to run a shell script in a runtime. */
export interface Channel {
  /** For messages to people: `ssh build.example.org`. */
  label: string;
  target: string;
  /** The command that runs a script by `sh` there. With `onlyIfRunning` it rejects rather than create anything. */
  command(script: string, onlyIfRunning: boolean): Promise<readonly string[]>;
  /** No users share the file system, so a /tmp without the sticky bit is safe. */
  isContainer: boolean;
  /** Compressing the executable takes less time than sending it uncompressed. */
  isSlow: boolean;
  /** Whether the command's error output proves that the runtime no longer exists. */
  isGone(stderr: string): boolean;
  /** Called when `isGone` was true. */
  forget?(): void;
  /** Called when a command does not answer: a connection that the links share may be the cause. */
  stuck?(): void;
  dispose?(): Promise<void>;
}

export interface ShellConnectorOptions {
  /** Socket of a daemon that is managed there by other means; by default a daemon of its own serves all links. */
  socket_path?: string | undefined;
}

/** Time for name resolution, proxies, authentication and a machine that must wake up. */
const handshakeMs = 30_000;
/** A daemon that was started for the links exits after this much idle time. */
const idleExitS = 1800;
/** Report the target, report the missing file, find it after the copy, and one more copy if the first was damaged. */
const roundsMax = 5;
const noDaemonExitCode = 69;

export function shellConnector(
  channel: Channel,
  context: ConnectorContext,
  options: ShellConnectorOptions = {},
): ShellConnection {
  const shell = new RemoteShell(channel, context, options);
  return {
    open: (events) => shell.open(events, false),
    find: (events) => shell.open(events, true),
    target: channel.target,
    dispose: () => shell.dispose(),
  };
}

class RemoteShell {
  /** Links that open at the same time share one copy. */
  readonly #copies = new Map<string, Promise<void>>();
  #isDisposed = false;

  constructor(
    readonly channel: Channel,
    readonly context: ConnectorContext,
    readonly options: ShellConnectorOptions,
  ) {}

  /** Ends `open`, since clients try to reconnect the links that end with this. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.channel.dispose?.();
  }

  async open(events: CarrierEvents, onlyIfRunning: boolean): Promise<Carrier> {
    await this.context.executables.warm();
    for (let round = 1; ; round++) {
      const command = await this.#connect(onlyIfRunning);
      const answer = await command.answer(handshakeMs, () => this.channel.stuck?.());
      const [word, ...rest] = answer.split(" ");
      if (word === "ready" && !this.#isDisposed) return command.carry(events);
      await command.close();
      this.#throwIfDisposed();
      if (word !== "need") throw this.#refusal(word, rest.join(" "));
      if (round === roundsMax) throw this.#refusal("refused", "the executable was copied, but is not found");
      await this.#provide(rest[0]!, rest[1] === "gzip");
    }
  }

  async #connect(onlyIfRunning: boolean): Promise<RemoteShellCommand> {
    const mark = newMark();
    const script = connectScript({
      mark,
      executables: this.context.executables.known,
      socketPath: this.options.socket_path,
      onlyIfRunning,
      isContainer: this.channel.isContainer,
      serveFlags: ["--idle-exit-s", String(idleExitS)],
    });
    return await this.#start(script, mark, onlyIfRunning);
  }

  async #start(script: string, mark: string, onlyIfRunning: boolean): Promise<RemoteShellCommand> {
    const { channel } = this;
    this.#throwIfDisposed();
    return new RemoteShellCommand({
      argv: await channel.command(script, onlyIfRunning),
      env: this.context.env,
      mark,
      label: channel.label,
      failure: (message, stderr, code) => {
        const isGone = channel.isGone(stderr);
        if (isGone) channel.forget?.();
        if (onlyIfRunning && code === noDaemonExitCode) return new NotStartedError(message);
        return isGone ? new NoDaemonError(message) : new Error(message);
      },
    });
  }

  /** The first round only finds the build for the target: the next script knows it, and asks for the copy if needed. */
  async #provide(target: string, canGunzip: boolean): Promise<void> {
    const known = this.context.executables.known.find((it) => it.target === target);
    const executable = known ?? (await this.context.executables.find(target).catch(withLabel(this.channel)));
    if (!known) return;
    const copying =
      this.#copies.get(executable.key) ??
      copyTo({
        executable,
        isCompressed: canGunzip && this.channel.isSlow,
        start: (script, mark) => this.#start(script, mark, false),
        newMark,
      }).finally(() => this.#copies.delete(executable.key));
    this.#copies.set(executable.key, copying);
    await copying.catch(withLabel(this.channel));
  }

  #throwIfDisposed(): void {
    if (this.#isDisposed) throw this.#refusal("refused", "the connector is closed");
  }

  #refusal(word: string | undefined, reason: string): Error {
    const { label } = this.channel;
    if (word === "absent") return new NotStartedError(`${label}: no daemon is running there`);
    return new TrlError("RUNTIME_UNAVAILABLE", `${label}: ${reason}`);
  }
}

const newMark = () => `trl-answer-${randomHex(6)}`;

/** Rethrows an error of trl with the channel's label in front. */
const withLabel =
  ({ label }: Channel) =>
  (error: unknown): never => {
    if (error instanceof TrlError) throw new TrlError(error.code, `${label}: ${error.message}`);
    throw error;
  };
