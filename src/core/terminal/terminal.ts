// One terminal: a program on a pseudo-terminal, its recent output, its screen and its subscribers. It lives until the
// program exits or `close` is called, with or without subscribers.

import { noteGarbage } from "../../platform/garbage.ts";
import { killBeforeDaemon } from "../../platform/oom-score.ts";
import type { ProcessEntry } from "../../platform/process-table.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { Snapshot, SnapshotFormat } from "../../protocol/pty.ts";
import type { Packing } from "../../upgrade/schema/fields.ts";
import type { TerminalState } from "../../upgrade/schema/terminals.ts";
import { fewHave } from "../../util/few-bytes.ts";
import { type Expiry, expiryOf } from "../lifetime/expiry.ts";
import { Instant } from "../lifetime/instant.ts";
import { destroyGraceMs, inputPendingMaxBytes, terminalRingBytes } from "../limits.ts";
import { terminate } from "../process/terminate.ts";
import type { PtyExit, PtyProcess, TerminalSize } from "./drivers/driver.ts";
import { InputOrder } from "./input-order.ts";
import { OutputFlow } from "./output-scheduler.ts";
import { ProgramEnd } from "./program-end.ts";
import { OutputRing } from "./ring.ts";
import { Picture } from "./screen/picture.ts";
import { type InputClient, requireSize, SizePolicy } from "./size-policy.ts";
import { startProgram, type TerminalSpec } from "./start-program.ts";
import { Subscribers } from "./subscribers.ts";

/** ^S */
const xoff = 0x13;

export class Terminal {
  readonly ring: OutputRing;
  readonly createdAt: Instant;
  /** Resolves when the program and all processes it started have ended. */
  readonly done: Promise<void>;
  readonly programEnd: ProgramEnd;
  #lastActivity: Instant;
  readonly #startedMs: number;
  #endedAt: Instant | undefined;
  #exit: PtyExit | undefined;
  #size: TerminalSize;
  readonly #sizePolicy = new SizePolicy();
  readonly #pty: PtyProcess;
  readonly #flow: OutputFlow;
  readonly picture: Picture;
  readonly subscribers = new Subscribers();
  readonly #input = new InputOrder(
    () => this.picture.isAnswering,
    (bytes) => {
      if (!this.#exit) this.#pty.write(bytes);
    },
  );
  #termination: Promise<ProcessEntry[]> | undefined;
  /** Pids that SIGKILL could not end; normally empty. */
  left: readonly number[] = [];
  #isDone = false;

  constructor(readonly spec: TerminalSpec) {
    const { ownership, id, pty, restored, mayKeep } = spec;
    const { state, unpacking } = restored ?? {};
    this.createdAt = new Instant(state?.createdAt, state?.createdSteadyMs);
    this.#lastActivity = new Instant(state?.lastActivity, state?.lastActivitySteadyMs);
    this.#startedMs = performance.now() - (state ? state.elapsedMs + unpacking!.gapMs : 0);
    this.ring = state
      ? OutputRing.from(state.ring, unpacking!, terminalRingBytes, mayKeep)
      : new OutputRing(terminalRingBytes, mayKeep);
    this.#size = { cols: pty.cols, rows: pty.rows };
    this.picture = new Picture(this.ring, this.#size, spec.screens, restored, (text) => this.#reply(text));
    this.programEnd = new ProgramEnd(spec.sessionIsolation, state?.meter);
    if (state?.ended) {
      this.programEnd.restore(state.ended);
      this.#exit = state.ended.exit;
      this.#endedAt = new Instant(state.ended.at, state.ended.atSteadyMs);
    }
    this.#pty = startProgram(spec, (chunk) => this.#printed(chunk));
    this.#flow = new OutputFlow(spec.scheduler, this, this.#pty);
    if (this.#exit) {
      this.#isDone = true;
      this.done = Promise.resolve();
      return;
    }
    killBeforeDaemon(this.#pty.pid);
    ownership.addRoot(this.#pty.pid, { sessionId: id, commandId: id });
    this.programEnd.watch(() => void this.#terminate(destroyGraceMs), performance.now() - this.#startedMs);
    this.done = this.#watch();
  }

  /** An upgrade may save the terminal now: neither its end nor a reply to the program is under way. */
  get isAtRest(): boolean {
    if (!this.picture.isPacked || this.picture.isAnswering) return false;
    return this.#isDone || (!this.#exit && !this.#termination && this.#pty.isAtRest);
  }

  /** The terminal survives an upgrade. */
  get canCross(): boolean {
    return this.#exit !== undefined || this.#pty.pack !== undefined;
  }

  pack(packing: Packing): TerminalState {
    this.#flow.release();
    this.#input.flush();
    return {
      ...identityOf(this),
      elapsedMs: performance.now() - this.#startedMs,
      ring: this.ring.pack(packing),
      ...this.picture.pack(packing),
      meter: this.programEnd.pack(),
      live: this.#exit ? undefined : this.#pty.pack!(packing),
    };
  }

  get id(): string {
    return this.spec.id;
  }

  /** Unique in this process; an id may be used again. */
  get serial(): number {
    return this.spec.serial;
  }

  get size(): TerminalSize {
    return this.#size;
  }

  get exit(): PtyExit | undefined {
    return this.#exit;
  }

  /** The program and all processes it started have ended. */
  get isDead(): boolean {
    return this.#isDone;
  }

  get endedAt(): Instant | undefined {
    return this.#endedAt;
  }

  /** Has subscribers, including those of `pty.wait`, which display nothing. */
  get isAttended(): boolean {
    return this.subscribers.size > 0;
  }

  /** Counts as activity, which postpones the idle timeout. */
  touch(): void {
    this.#lastActivity = new Instant();
  }

  get displayCount(): number {
    return this.subscribers.displayCount;
  }

  /** Undefined while the program does not run or a display shows it. A `pty.wait` counts as use, not as a display. */
  get expiry(): Expiry | undefined {
    if (this.#exit || this.displayCount > 0) return undefined;
    const { idleTimeoutS, maxAgeS } = this.spec;
    const { createdAt, lastActivity, isAttended } = this;
    return expiryOf({ createdAt, lastActivity, idleTimeoutS, maxAgeS, isInUse: isAttended });
  }

  /**
   * Queues input in order and returns how many bytes the program has not read; refuses more than the limit. `client` is
   * undefined for input that no user typed, such as a reply of the client's terminal.
   */
  write(bytes: Uint8Array, client: InputClient | undefined): number {
    this.#requireRunning();
    const pendingBytes = this.#pty.pendingBytes + this.#input.heldBytes;
    if (pendingBytes + bytes.length > inputPendingMaxBytes) {
      const pending = `${pendingBytes} bytes are pending, the limit is ${inputPendingMaxBytes}`;
      throw new TrlError("REQUEST_TOO_LARGE", `the program does not read its input: ${pending}`);
    }
    if (fewHave(bytes, xoff)) this.#flow.letUserDecide();
    const size = client && this.#sizePolicy.typed(client);
    if (size) this.#resize(size);
    this.#input.typed(bytes);
    this.spec.scheduler.typing.note(this);
    this.#lastActivity = new Instant();
    return this.#pty.pendingBytes + this.#input.heldBytes;
  }

  /** False if another client decides the size. */
  resize(size: TerminalSize, client: InputClient): boolean {
    this.#requireRunning();
    requireSize(size);
    const decides = this.#sizePolicy.wants(client, size);
    if (decides) this.#resize(size);
    return decides;
  }

  async snapshot(format: SnapshotFormat, scrollback: number): Promise<Snapshot> {
    const { offset, screen_error, ...shown } = await this.picture.snapshot(format, scrollback);
    return { ...shown, ...this.#size, offset, screen_error };
  }

  /** Frees the memory of an ended terminal, except for its final screen. */
  async condense(): Promise<void> {
    await this.picture.condense();
    this.ring.clear();
  }

  /** SIGHUP, grace period, SIGKILL, for the program and all processes it started. Resolves with the pids still alive. */
  async close(graceMs = destroyGraceMs): Promise<number[]> {
    this.programEnd.stopped("cancelled");
    await this.#terminate(graceMs);
    await this.done;
    return [...this.left];
  }

  /** `close`, but waits for the termination of all sessions, which the caller runs. */
  async closeAlongside(termination: Promise<unknown>): Promise<void> {
    this.#termination ??= termination.then(() => []);
    await this.close();
  }

  get pid(): number {
    return this.#pty.pid;
  }

  get lastActivity(): Instant {
    return this.#lastActivity;
  }

  #printed(chunk: Uint8Array): void {
    this.#lastActivity = new Instant();
    this.ring.push(chunk);
    this.#flow.printed(chunk.length);
    noteGarbage(chunk.length); // frames and copies that are made of the chunk
    this.picture.printed(chunk, this.displayCount > 0);
    this.subscribers.printed();
  }

  /** Writes the emulator's reply to a terminal query, before any input that waits for it. */
  #reply(text: string): void {
    const hasSpace = !this.#exit && this.#pty.pendingBytes < inputPendingMaxBytes;
    if (hasSpace && text !== "") this.#pty.write(Buffer.from(text));
    this.#input.answered();
  }

  #resize(size: TerminalSize): void {
    if (size.cols === this.#size.cols && size.rows === this.#size.rows) return;
    this.#size = size;
    this.picture.resized(size);
    this.#pty.resize(size);
    this.subscribers.resized(size);
  }

  #requireRunning(): void {
    if (this.#exit) throw new TrlError("SESSION_NOT_FOUND", `the program of terminal ${this.id} has ended`);
  }

  /** When the program exits, the processes that it left running are terminated, too. */
  async #watch(): Promise<void> {
    const { ownership } = this.spec;
    void this.#pty.exited.then(() => this.#flow.end());
    const exit = await this.#pty.ended;
    await ownership.removeRoot(this.#pty.pid);
    this.#endedAt = new Instant();
    this.picture.finish();
    const left = await ownership.membersOf({ sessionId: this.id });
    this.#exit = this.programEnd.ended(exit, this.#pty.usage(), this.ring.end, left);
    this.subscribers.exited();
    this.left = (await this.#terminate(destroyGraceMs)).map(({ pid }) => pid);
    await this.programEnd.dispose();
    ownership.removeSession(this.id);
    this.#isDone = true;
    this.subscribers.exited(); // for subscribers that wait until all processes have ended
  }

  #terminate(graceMs: number): Promise<ProcessEntry[]> {
    const how = { graceMs, signal: "SIGHUP" as const, whileFrozen: this.programEnd.whileFrozen };
    this.#termination ??= terminate(this.spec.ownership, { sessionId: this.id }, how);
    return this.#termination;
  }
}

type Identity = Omit<TerminalState, "ring" | "screen" | "final" | "meter" | "live" | "elapsedMs">;

/** The part of the upgrade state that consists of public fields. */
function identityOf(terminal: Terminal): Identity {
  const { spec, pid, size, createdAt, lastActivity, exit, endedAt, programEnd } = terminal;
  const { id, name, shell, command, driver, workingDir, idleTimeoutS, maxAgeS, pty } = spec;
  const { reason, receipt } = programEnd;
  return {
    ...{ id, name, shell, command, workingDir, idleTimeoutS, maxAgeS, pid, size },
    driver: driver.name,
    env: pty.env,
    createdAt: createdAt.getTime(),
    createdSteadyMs: createdAt.steadyMs,
    lastActivity: lastActivity.getTime(),
    lastActivitySteadyMs: lastActivity.steadyMs,
    ended: exit && {
      ...{ exit, reason: reason!, receipt: receipt! },
      at: endedAt!.getTime(),
      atSteadyMs: endedAt!.steadyMs,
    },
  };
}
