// From a way to run a script somewhere to a carrier of frames: the daemon there is reached through `trl dial-stdio`, and
// the executable is brought along where it is missing. The daemon outlives the link, so that a new one finds
// everything as it was left.

import {
  type Carrier,
  type CarrierEvents,
  NoDaemonError,
  type OpenCarrier,
} from "../../client/carriers/carrier.ts";
import { TrlError } from "../../protocol/errors.ts";
import { randomHex } from "../../util/random.ts";
import { copyTo } from "../provision/copy.ts";
import type { Executables } from "../provision/executables.ts";
import { connectScript } from "../provision/scripts.ts";
import { UnreachableError } from "../unreachable.ts";
import { RemoteShellCommand } from "./remote-command.ts";

export interface ShellConnection {
  /** Reaches the daemon there; it is started where it is missing. */
  open: OpenCarrier;
  /** Reaches it where it is; rejects with a VacantError where it has not been started yet. */
  find: OpenCarrier;
  /** Where it is, for people. */
  target: string;
  /** Removes what was made here or there for the link. The daemon there lives on, unless its place was made by us. */
  dispose(): Promise<void>;
}

export interface ConnectorContext {
  /** For the commands that are started. */
  env: Record<string, string | undefined>;
  executables: Executables;
  /** A private directory, for what belongs to the links. */
  runDir: string;
}

/** A way to run a script somewhere. */
export interface Channel {
  /** For people: `ssh build.example.org`. */
  label: string;
  target: string;
  /** The command that gives a script to `sh` there. With `merelyLooks` it rejects rather than make anything. */
  command(script: string, merelyLooks: boolean): Promise<readonly string[]>;
  /** What is there is one's own: no other users share the machine. */
  isContainer: boolean;
  /** To compress what is copied takes less time than to send it. */
  isSlow: boolean;
  /** Whether these words of the command say for certain that nobody is there any more. */
  isGone(words: string): boolean;
  /** It was found to be gone. */
  forget?(): void;
  /** It says nothing: what the links share may be why. */
  stuck?(): void;
  dispose?(): Promise<void>;
}

export interface ShellConnectorOptions {
  /** Of a daemon that somebody else takes care of; else there is one for those who come this way. */
  socket_path?: string | undefined;
}

/** To be reached may take a name server, a proxy, and somebody who is slow to wake. */
const handshakeMs = 30_000;
/** A daemon that was started for us is not left behind for ever. */
const idleExitS = 1800;
/** To learn the target, to be told that the file is missing, to find it, and one for a copy that was damaged. */
const roundsMax = 5;
const noDaemonExitCode = 69;

export function shellConnector(
  channel: Channel,
  context: ConnectorContext,
  options: ShellConnectorOptions = {},
): ShellConnection {
  const far = new Far(channel, context, options);
  return {
    open: (events) => far.open(events, false),
    find: (events) => far.open(events, true),
    target: channel.target,
    dispose: () => far.dispose(),
  };
}

class Far {
  /** Several who come at once share one copy. */
  readonly #copies = new Map<string, Promise<void>>();
  #isDisposed = false;

  constructor(
    readonly channel: Channel,
    readonly context: ConnectorContext,
    readonly options: ShellConnectorOptions,
  ) {}

  /** Whoever has lost its link by this is not to make another. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.channel.dispose?.();
  }

  async open(events: CarrierEvents, merelyLooks: boolean): Promise<Carrier> {
    const { executables } = this.context;
    await executables.warm();
    for (let round = 1; ; round++) {
      const command = await this.#connect(merelyLooks);
      const answer = await command.answer(handshakeMs, () => this.channel.stuck?.());
      const [word, ...rest] = answer.split(" ");
      if (word === "ready" && !this.#isDisposed) return command.carry(events);
      await command.close();
      this.#refuseIfDisposed();
      if (word !== "need") throw this.#refusal(word, rest.join(" "));
      if (round === roundsMax) throw this.#refusal("refused", "the executable was copied, but is not found");
      await this.#provide(rest[0]!, rest[1] === "gzip");
    }
  }

  async #connect(merelyLooks: boolean): Promise<RemoteShellCommand> {
    const mark = newMark();
    const script = connectScript({
      mark,
      executables: this.context.executables.known,
      socketPath: this.options.socket_path,
      merelyLooks,
      isContainer: this.channel.isContainer,
      serveFlags: ["--idle-exit-s", String(idleExitS)],
    });
    return await this.#start(script, mark, merelyLooks);
  }

  async #start(script: string, mark: string, merelyLooks: boolean): Promise<RemoteShellCommand> {
    const { channel } = this;
    this.#refuseIfDisposed();
    return new RemoteShellCommand({
      argv: await channel.command(script, merelyLooks),
      env: this.context.env,
      mark,
      label: channel.label,
      failure: (message, words, code) => {
        const isGone = channel.isGone(words);
        if (isGone) channel.forget?.();
        if (merelyLooks && code === noDaemonExitCode) return new UnreachableError(message);
        return isGone ? new NoDaemonError(message) : new Error(message);
      },
    });
  }

  /** The first time that a machine of its kind is met, its build must be found; then the copy can be asked for. */
  async #provide(target: string, canGunzip: boolean): Promise<void> {
    const known = this.context.executables.known.find((it) => it.target === target);
    const executable = known ?? (await this.context.executables.find(target).catch(explain(this.channel)));
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
    await copying.catch(explain(this.channel));
  }

  #refuseIfDisposed(): void {
    if (this.#isDisposed) throw this.#refusal("refused", "the link is not used any more");
  }

  #refusal(word: string | undefined, reason: string): Error {
    const { label } = this.channel;
    if (word === "nobody") return new UnreachableError(`${label}: no daemon is running there`);
    return new TrlError("RUNTIME_UNAVAILABLE", `${label}: ${reason}`);
  }
}

const newMark = () => `trl-far-${randomHex(6)}`;

const explain =
  ({ label }: Channel) =>
  (error: unknown): never => {
    if (error instanceof TrlError) throw new TrlError(error.code, `${label}: ${error.message}`);
    throw error;
  };
