// A user at a terminal of the daemon: keys go one way, output the other, until the user leaves or the program ends.
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
  /** As the user calls it. */
  label: string;
}

type Ending =
  | { kind: "detached" }
  | { kind: "signal"; signal: (typeof signals)[number] }
  | { kind: "exited"; exitCode: number; signal: string | null }
  | { kind: "failed"; error: Error };

const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** For what is on its way when the user leaves. */
const farewellMs = 500;
/** Typed or pasted, and not taken by the program yet. */
const queuedBytesMax = 16 * 1024 * 1024;
const retryMs = 20;
const bell = Buffer.from("\x07");

/** Gives the exit code; the user's terminal is as it was. */
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
  readonly #passer: OutputWriter;
  readonly #ending = Promise.withResolvers<Ending>();
  #lastWrite: Promise<unknown> = Promise.resolve();
  #queuedBytes = 0;

  constructor(
    readonly client: DaemonClient,
    readonly id: string,
    readonly key: DetachKey,
  ) {
    this.#passer = new OutputWriter(client, () => this.#end({ kind: "signal", signal: "SIGHUP" }));
  }

  async ended(): Promise<Ending> {
    using stack = new DisposableStack();
    for (const signal of signals) {
      const hear = () => this.#end({ kind: "signal", signal });
      process.on(signal, hear);
      stack.defer(() => process.off(signal, hear));
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
    // The daemon may have been upgraded: then the terminal goes on, and its screen is drawn anew.
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
    await Promise.race([Promise.all([this.#passer.discard(), this.#lastWrite]), Bun.sleep(farewellMs)]);
    return ending;
  }

  #end(ending: Ending): void {
    this.#ending.resolve(ending);
  }

  /** Of a terminal that has just ended nobody wants to know. */
  async #resize(): Promise<void> {
    const size = userSize();
    if (size) await this.client.call("pty.resize", { session_id: this.id, ...size }).catch(() => {});
  }

  #take(frame: TerminalFrame, { screen }: UserTerminal): void {
    if (frame.type === "output") {
      const bytes = Buffer.from(frame.data, "base64");
      screen.take(bytes);
      this.#passer.pass(1, bytes);
    } else if (frame.type === "exit") {
      const { exit_code: exitCode, signal, error } = frame;
      this.client.onClose.clear(); // it has told all there is
      const ending: Ending = error
        ? { kind: "failed", error: lostError(error) }
        : { kind: "exited", exitCode, signal };
      void this.#passer.done().then(() => this.#end(ending));
    }
  }

  #type(typed: Buffer): void {
    const at = this.key(typed);
    const keys = at === -1 ? typed : typed.subarray(0, at);
    if (keys.length > 0) this.#queue(keys);
    if (at !== -1) this.#end({ kind: "detached" });
  }

  /** In order, one after the other. What is too much even to wait is gone, and the user hears it. */
  #queue(keys: Buffer): void {
    if (this.#queuedBytes + keys.length > queuedBytesMax) {
      this.#passer.pass(1, bell);
      return;
    }
    this.#queuedBytes += keys.length;
    this.#lastWrite = this.#lastWrite.then(async () => {
      await this.#write(keys);
      this.#queuedBytes -= keys.length;
    });
  }

  /** A program that does not read just now gets it when it does. */
  async #write(keys: Buffer): Promise<void> {
    const data = keys.toString("base64");
    for (let isOver = false; !isOver; ) {
      isOver = await this.client.call("pty.write", { session_id: this.id, data, encoding: "base64" }).then(
        () => true,
        (error: unknown) => !(error instanceof TrlError && error.code === "REQUEST_TOO_LARGE"),
      );
      if (!isOver) await Bun.sleep(retryMs);
    }
  }
}
