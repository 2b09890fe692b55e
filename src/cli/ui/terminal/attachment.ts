// Attaches the user's terminal to one of the daemon: forwards keys and output until detach or the program's end.
import { constants } from "node:os";
import { lostError } from "../../../client/errors.ts";
import { TrlError } from "../../../protocol/errors.ts";
import type { DaemonClient, TerminalFrame } from "../../client.ts";
import { lostDaemon } from "../../errors.ts";
import { OutputWriter } from "../../output-writer.ts";
import type { DetachKey } from "./detach-key.ts";
import { say, UserTerminal, userSize } from "./user-terminal.ts";

export interface Target {
  id: string;
  /** The name that the user gave. */
  label: string;
}

type Ending =
  | { kind: "detached" }
  | { kind: "signal"; signal: (typeof signals)[number] }
  | { kind: "exited"; exitCode: number; signal: string | null }
  | { kind: "failed"; error: Error };

const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** Time to finish pending writes on detach. */
const detachFlushMs = 500;
/** Limit on input that the program has not read yet. */
const queuedBytesMax = 16 * 1024 * 1024;
const retryMs = 20;
const bell = Buffer.from("\x07");

/** Returns the exit code; the modes of the user's terminal are restored. */
export async function attach(client: DaemonClient, target: Target, key: DetachKey): Promise<number> {
  const ending = await new Attachment(client, target.id, key).ended();
  return conclude(ending, target.label);
}

export function conclude(ending: Ending, label: string): number {
  if (ending.kind === "failed") throw ending.error;
  if (ending.kind === "exited") {
    const { signal, exitCode } = ending;
    say(2, `[${label} ended ${signal ? `by ${signal}` : `with exit code ${exitCode}`}]\n`);
    return exitCode;
  }
  say(2, `[detached from ${label}; come back with: trl attach ${label}]\n`);
  return ending.kind === "signal" ? 128 + constants.signals[ending.signal] : 0;
}

class Attachment {
  readonly #writer: OutputWriter;
  readonly #ending = Promise.withResolvers<Ending>();
  #lastWrite: Promise<unknown> = Promise.resolve();
  #queuedBytes = 0;

  constructor(
    readonly client: DaemonClient,
    readonly id: string,
    readonly key: DetachKey,
  ) {
    this.#writer = new OutputWriter(client, () => this.#end({ kind: "signal", signal: "SIGHUP" }));
  }

  async ended(): Promise<Ending> {
    using stack = new DisposableStack();
    for (const signal of signals) {
      const handle = () => this.#end({ kind: "signal", signal });
      process.on(signal, handle);
      stack.defer(() => process.off(signal, handle));
    }
    const user = stack.use(new UserTerminal());
    const resize = () => void this.#resize();
    process.on("SIGWINCH", resize);
    stack.defer(() => process.off("SIGWINCH", resize));
    const watch = () => {
      resize(); // before the screen is drawn
      return this.client.subscribe({ session_id: this.id, replay: "screen" }, (it) => this.#take(it, user));
    };
    const failed = (error: Error) => this.#end({ kind: "failed", error });
    // After an upgrade of the daemon the terminal still runs: subscribe again and redraw.
    this.client.onClose.add(
      () =>
        void this.client
          .reopen()
          .then(watch)
          .catch(() => failed(lostDaemon())),
    );
    watch().catch(failed);
    process.stdin.on("data", (typed: Buffer) => this.#type(typed));
    process.stdin.on("end", () => this.#end({ kind: "signal", signal: "SIGHUP" }));
    const ending = await this.#ending.promise;
    process.stdin.pause();
    await Promise.race([Promise.all([this.#writer.discard(), this.#lastWrite]), Bun.sleep(detachFlushMs)]);
    return ending;
  }

  #end(ending: Ending): void {
    this.#ending.resolve(ending);
  }

  /** Ignores errors: the terminal may have ended. */
  async #resize(): Promise<void> {
    const size = userSize();
    if (size) await this.client.call("pty.resize", { session_id: this.id, ...size }).catch(() => {});
  }

  #take(frame: TerminalFrame, { screen }: UserTerminal): void {
    if (frame.type === "output") {
      const bytes = Buffer.from(frame.data, "base64");
      screen.take(bytes);
      this.#writer.write(1, bytes);
    } else if (frame.type === "exit") {
      const { exit_code: exitCode, signal, error } = frame;
      this.client.onClose.clear(); // the exit frame is the last one
      const ending: Ending = error
        ? { kind: "failed", error: lostError(error) }
        : { kind: "exited", exitCode, signal };
      void this.#writer.flush().then(() => this.#end(ending));
    }
  }

  #type(typed: Buffer): void {
    const at = this.key(typed);
    const keys = at === -1 ? typed : typed.subarray(0, at);
    if (keys.length > 0) this.#queue(keys);
    if (at !== -1) this.#end({ kind: "detached" });
  }

  /** Writes one after the other. Beyond the queue limit, input is dropped and the bell rings. */
  #queue(keys: Buffer): void {
    if (this.#queuedBytes + keys.length > queuedBytesMax) {
      this.#writer.write(1, bell);
      return;
    }
    this.#queuedBytes += keys.length;
    this.#lastWrite = this.#lastWrite.then(async () => {
      await this.#write(keys);
      this.#queuedBytes -= keys.length;
    });
  }

  /** Retries while the program's input buffer is full. */
  async #write(keys: Buffer): Promise<void> {
    const data = keys.toString("base64");
    for (let isDone = false; !isDone; ) {
      isDone = await this.client.call("pty.write", { session_id: this.id, data, encoding: "base64" }).then(
        () => true,
        (error: unknown) => !(error instanceof TrlError && error.code === "REQUEST_TOO_LARGE"),
      );
      if (!isDone) await Bun.sleep(retryMs);
    }
  }
}
