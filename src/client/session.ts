// A session, as its user sees it.
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

export interface SessionOptions extends Options<"session.create"> {
  /** Take the session of this name where there is one. */
  reuse?: boolean;
}

interface Common {
  /** Stops the command; the promise is rejected with the signal's reason once it is dead. */
  signal?: AbortSignal;
  /** Text (`utf8`), or what was printed, byte for byte. */
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
  readonly #isOurs: boolean;

  constructor(host: Host, created: Created, isOurs: boolean) {
    this.#host = host;
    this.id = created.session_id;
    this.name = created.name;
    this.#isOurs = isOurs;
  }

  /** Runs a command to its end. A non-zero exit code is a result; a time limit that was reached is an error with one. */
  run(command: string, options: RunOptions & { encoding: "bytes" }): Promise<RunInBytes>;
  run(command: string, options?: RunOptions): Promise<Run>;
  async run(command: string, options: RunOptions = {}): Promise<Run | RunInBytes> {
    const { signal, encoding, ...rest } = options;
    signal?.throwIfAborted();
    const commandId = newCommandId();
    const cancel = () => void this.#host.call("exec.cancel", { stream_id: commandId }).catch(() => {});
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const result = camelized(await this.#run(command, commandId, encoding === "bytes", rest));
      if (result.reason === "cancelled") signal?.throwIfAborted();
      if (encoding !== "bytes") return result;
      return { ...result, stdout: fromBase64(result.stdout), stderr: fromBase64(result.stderr) };
    } catch (error) {
      if (isTrlError(error, "COMMAND_TIMEOUT", "COMMAND_FAILED") && error.data) {
        if ((error.data as RunResult).reason === "cancelled") signal?.throwIfAborted();
        throw new CommandError(error);
      }
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Runs a command and gives its output as it comes. It is started at once, read or not. */
  stream(command: string, options: StreamOptions & { encoding: "bytes" }): CommandStream<Uint8Array>;
  stream(command: string, options?: StreamOptions): CommandStream<string>;
  stream(command: string, options: StreamOptions = {}): CommandStream<string> | CommandStream<Uint8Array> {
    const { signal, encoding, ...rest } = options;
    signal?.throwIfAborted();
    const start = { ...wireParams("exec.stream", rest), session_id: this.id, command };
    const asBytes = encoding === "bytes";
    const patience = rest.stallTimeoutS === undefined ? {} : { stall_timeout_s: rest.stallTimeoutS };
    return new CommandStream<never>(this.#host, {
      id: newCommandId(),
      start,
      attach: patience,
      asBytes,
      signal,
    });
  }

  /** Stops what runs in it now, or sends it a signal, and no more. False where nothing runs. */
  async cancel(signal?: string): Promise<boolean> {
    const params = { session_id: this.id, ...(signal === undefined ? {} : { signal }) };
    return (await this.#host.call("exec.cancel", params)).cancelled;
  }

  async info(): Promise<Camelized<SessionInfo>> {
    return camelized(await this.#host.call("session.info", { session_id: this.id }));
  }

  /** Ends it and all that it started. One that is busy needs `force`. */
  async destroy({ force = false } = {}): Promise<void> {
    await this.#host.call("session.destroy", { session_id: this.id, force });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOurs) return;
    await this.destroy({ force: true }).catch((error: unknown) => {
      if (!isTrlError(error, "SESSION_NOT_FOUND", "RUNTIME_UNAVAILABLE")) throw error;
    });
  }

  /** Where the reply is lost with the connection, the command is asked for by its id: it is not run again. */
  async #run(command: string, commandId: string, inBytes: boolean, options: object): Promise<RunResult> {
    const wire = wireParams("exec.run", options);
    const params = { ...wire, session_id: this.id, command, command_id: commandId };
    if (inBytes) Object.assign(params, { encoding: "base64" });
    try {
      return await this.#host.call("exec.run", params);
    } catch (error) {
      if (!(error instanceof ConnectionError && error.mayHaveRun)) throw error;
      return await recoverRun(this.#host, {
        sessionId: this.id,
        commandId,
        inBytes,
        check: wire.check === true,
      });
    }
  }
}
