// Handle of a session.
import type { RunResult } from "../protocol/exec.ts";
import type { Params } from "../protocol/methods.ts";
import type { SessionInfo } from "../protocol/session.ts";
import { fromBase64 } from "../util/base64.ts";
import { newCommandId } from "./command-id.ts";
import { CommandStream } from "./command-stream.ts";
import { CommandError, ConnectionError, isTrlError } from "./errors.ts";
import type { Host } from "./host.ts";
import { type Camelized, camelized, type Options, wireParams } from "./naming.ts";
import { recoverRun } from "./recover-run.ts";
import { stopCommand } from "./stop-command.ts";

export interface SessionOptions extends Options<"session.create"> {
  /** Use the session with this name if there is one. */
  reuse?: boolean;
}

interface Common {
  /** Stops the command; the promise rejects with the signal's reason once the command has ended. */
  signal?: AbortSignal;
  /** Text (`utf8`), or the exact bytes. */
  encoding?: "utf8" | "bytes";
}
type Settable<M extends "exec.run" | "exec.stream"> = Options<
  M,
  "session_id" | "command" | "command_id" | "encoding" | Extract<"window_bytes", keyof Params<M>>
>;
export type RunOptions = Settable<"exec.run"> & Common;
export type StreamOptions = Settable<"exec.stream"> & Common;

export type Run = Camelized<RunResult>;
export type RunInBytes = Omit<Run, "stdout" | "stderr"> & { stdout: Uint8Array; stderr: Uint8Array };

interface Created {
  session_id: string;
  name: string | null;
}

export class Session implements AsyncDisposable {
  readonly id: string;
  readonly name: string | null;
  readonly #host: Host;
  readonly #isOwned: boolean;

  constructor(host: Host, created: Created, isOwned: boolean) {
    this.#host = host;
    this.id = created.session_id;
    this.name = created.name;
    this.#isOwned = isOwned;
  }

  /** Runs a command to its end. A non-zero exit code is a result; a timeout is an error that has a result. */
  run(command: string, options: RunOptions & { encoding: "bytes" }): Promise<RunInBytes>;
  run(command: string, options?: RunOptions): Promise<Run>;
  async run(command: string, options: RunOptions = {}): Promise<Run | RunInBytes> {
    const { signal, encoding, ...rest } = options;
    signal?.throwIfAborted();
    const commandId = newCommandId();
    const cancel = () => void stopCommand(this.#host, commandId);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const result = camelized(await this.#run(command, commandId, encoding === "bytes", rest, signal));
      if (result.reason === "cancelled") signal?.throwIfAborted();
      if (encoding !== "bytes") return result;
      return { ...result, stdout: fromBase64(result.stdout), stderr: fromBase64(result.stderr) };
    } catch (error) {
      if (isTrlError(error, "COMMAND_TIMEOUT", "COMMAND_FAILED") && error.data) {
        if ((error.data as RunResult).reason === "cancelled") signal?.throwIfAborted();
        throw new CommandError(error, encoding === "bytes");
      }
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Runs a command and returns its live output. The command starts at once, whether or not the output is read. */
  stream(command: string, options: StreamOptions & { encoding: "bytes" }): CommandStream<Uint8Array>;
  stream(command: string, options?: StreamOptions): CommandStream<string>;
  stream(command: string, options: StreamOptions = {}): CommandStream<string> | CommandStream<Uint8Array> {
    const { signal, encoding, ...rest } = options;
    signal?.throwIfAborted();
    const start = { ...wireParams("exec.stream", rest), session_id: this.id, command };
    const asBytes = encoding === "bytes";
    const stall = rest.stallTimeoutS === undefined ? {} : { stall_timeout_s: rest.stallTimeoutS };
    return new CommandStream<never>(this.#host, {
      id: newCommandId(),
      start,
      attach: stall,
      asBytes,
      signal,
    });
  }

  /** Stops the running command, or only sends it a signal. Resolves to false if no command runs. */
  async cancel(signal?: string): Promise<boolean> {
    const params = { session_id: this.id, ...(signal === undefined ? {} : { signal }) };
    return (await this.#host.call("exec.cancel", params)).cancelled;
  }

  async info(): Promise<Camelized<SessionInfo>> {
    return camelized(await this.#host.call("session.info", { session_id: this.id }));
  }

  /** Ends the session and all processes that it started. A busy session needs `force`. */
  async destroy({ force = false } = {}): Promise<void> {
    await this.#host.call("session.destroy", { session_id: this.id, force });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOwned) return;
    await this.destroy({ force: true }).catch((error: unknown) => {
      if (!isTrlError(error, "SESSION_NOT_FOUND", "RUNTIME_UNAVAILABLE")) throw error;
    });
  }

  /** If the reply is lost with the connection, fetches the result by the command's id. The command runs once. */
  async #run(
    command: string,
    commandId: string,
    asBytes: boolean,
    options: object,
    unsentSignal: AbortSignal | undefined,
  ): Promise<RunResult> {
    const wire = wireParams("exec.run", options);
    const params = { ...wire, session_id: this.id, command, command_id: commandId };
    if (asBytes) Object.assign(params, { encoding: "base64" });
    try {
      return await this.#host.call("exec.run", params, { unsentSignal });
    } catch (error) {
      if (!(error instanceof ConnectionError && error.mayHaveRun)) throw error;
      return await recoverRun(this.#host, {
        sessionId: this.id,
        commandId,
        asBytes,
        check: wire.check === true,
      });
    }
  }
}
