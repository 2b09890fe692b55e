// One terminal: a program on a pseudo-terminal, its last output, its screen, and those who watch. It lives until its
// program ends or it is closed, whoever comes and goes.

import { noteGarbage } from "../../platform/garbage.ts";
import { killBeforeDaemon } from "../../platform/oom-score.ts";
import type { ProcessEntry } from "../../platform/process-table.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { Snapshot, SnapshotFormat } from "../../protocol/pty.ts";
import type { Packing } from "../../upgrade/schema/fields.ts";
import type { TerminalState } from "../../upgrade/schema/terminals.ts";
import { fewHave } from "../../util/few-bytes.ts";
import { Instant } from "../lifetime/instant.ts";
import { destroyGraceMs, inputPendingMaxBytes, terminalRingBytes } from "../limits.ts";
import { terminate } from "../process/terminate.ts";
import type { PtyExit, PtyProcess, TerminalSize } from "./drivers/driver.ts";
import { InputOrder } from "./input-order.ts";
import { OutputScheduler } from "./output-scheduler.ts";
import { identityOf } from "./pack-terminal.ts";
import { ProgramEnd } from "./program-end.ts";
import { OutputRing } from "./ring.ts";
import { Picture } from "./screen/picture.ts";
import { requireSize, SizePolicy, type Typist } from "./size-policy.ts";
import { startProgram, type TerminalSpec } from "./start-program.ts";
import { Subscribers } from "./subscribers.ts";
import { noteTyped } from "./typing.ts";

/** ^S */
const xoff = 0x13;

let terminals = 0;

export class Terminal {
  /** Of all that this process has had; an id may be used again. */
  readonly serial = ++terminals;
  readonly ring: OutputRing;
  readonly createdAt: Instant;
  readonly done: Promise<void>;
  readonly keeping: ProgramEnd;
  #lastActivity: Instant;
  readonly #began: number;
  #endedAt: Instant | undefined;
  #exit: PtyExit | undefined;
  #size: TerminalSize;
  readonly #sizes = new SizePolicy();
  readonly #pty: PtyProcess;
  readonly #turns: OutputScheduler;
  readonly picture: Picture;
  readonly audience = new Subscribers();
  readonly #input = new InputOrder(
    () => this.picture.isAnswering,
    (bytes) => {
      if (!this.#exit) this.#pty.write(bytes);
    },
  );
  #ending: Promise<ProcessEntry[]> | undefined;
  /** What could not be killed at its end, normally nothing. */
  left: readonly number[] = [];
  #isDone = false;

  constructor(readonly spec: TerminalSpec) {
    const { ownership, id, pty, before, mayKeep } = spec;
    const { state, given } = before ?? {};
    this.createdAt = new Instant(state?.createdAt, state?.createdSteadyMs);
    this.#lastActivity = new Instant(state?.lastActivity, state?.lastActivitySteadyMs);
    this.#began = performance.now() - (state ? state.elapsedMs + given!.gapMs : 0);
    this.ring = state
      ? OutputRing.from(state.ring, given!, terminalRingBytes, mayKeep)
      : new OutputRing(terminalRingBytes, mayKeep);
    this.#size = { cols: pty.cols, rows: pty.rows };
    this.picture = new Picture(this.ring, this.#size, spec.screens, before, (text) => this.#answer(text));
    this.keeping = new ProgramEnd(spec.sessionIsolation, state?.meter);
    if (state?.ended) {
      this.keeping.wasEnded(state.ended);
      this.#exit = state.ended.exit;
      this.#endedAt = new Instant(state.ended.at, state.ended.atSteadyMs);
    }
    this.#pty = startProgram(spec, (chunk) => this.#printed(chunk));
    this.#turns = new OutputScheduler(this, this.#pty, (chunk) => this.#printed(chunk));
    if (this.#exit) {
      this.#isDone = true;
      this.done = Promise.resolve();
      return;
    }
    killBeforeDaemon(this.#pty.pid);
    ownership.addRoot(this.#pty.pid, { sessionId: id, commandId: id });
    this.keeping.watch(() => void this.#end(destroyGraceMs), performance.now() - this.#began);
    this.done = this.#watch();
  }

  /** It has ended and all is told, or its program runs and nobody is about to end it. */
  get isAtRest(): boolean {
    if (!this.picture.isPacked || this.picture.isAnswering) return false;
    return this.#isDone || (!this.#exit && !this.#ending && this.#pty.isAtRest);
  }

  /** Whether its program can go on under another program. */
  get canCross(): boolean {
    return this.#exit !== undefined || this.#pty.pack !== undefined;
  }

  pack(packing: Packing): TerminalState {
    this.#turns.letFlow();
    this.#input.flush();
    return {
      ...identityOf(this),
      elapsedMs: performance.now() - this.#began,
      ring: this.ring.handOver(packing),
      ...this.picture.pack(packing),
      meter: this.keeping.pack(),
      live: this.#exit ? undefined : this.#pty.pack!(packing),
    };
  }

  get id(): string {
    return this.spec.id;
  }

  get size(): TerminalSize {
    return this.#size;
  }

  get exit(): PtyExit | undefined {
    return this.#exit;
  }

  /** Its program has ended, and everything that it started is dead. */
  get isDead(): boolean {
    return this.#isDone;
  }

  get endedAt(): Instant | undefined {
    return this.#endedAt;
  }

  /** Also by who only waits for something. */
  get isAttended(): boolean {
    return this.audience.size > 0;
  }

  /** Somebody looks at it. */
  touch(): void {
    this.#lastActivity = new Instant();
  }

  get displayCount(): number {
    return this.audience.displayCount;
  }

  /** Order is kept; what the program does not read is bounded. Without a client nobody has typed it. */
  write(bytes: Uint8Array, client: Typist | undefined): number {
    this.#refuseIfEnded();
    const pendingBytes = this.#pty.pendingBytes + this.#input.heldBytes;
    if (pendingBytes + bytes.length > inputPendingMaxBytes) {
      const pending = `${pendingBytes} bytes wait to be read, at most ${inputPendingMaxBytes} may`;
      throw new TrlError("REQUEST_TOO_LARGE", `the program does not read its input: ${pending}`);
    }
    if (fewHave(bytes, xoff)) this.#turns.letUserDecide();
    const size = client && this.#sizes.typed(client);
    if (size) this.#resize(size);
    this.#input.typed(bytes);
    noteTyped(this);
    this.#lastActivity = new Instant();
    return this.#pty.pendingBytes + this.#input.heldBytes;
  }

  /** False where another client decides the size. */
  resize(size: TerminalSize, client: Typist): boolean {
    this.#refuseIfEnded();
    requireSize(size);
    const decides = this.#sizes.wants(client, size);
    if (decides) this.#resize(size);
    return decides;
  }

  async snapshot(format: SnapshotFormat, scrollback: number): Promise<Snapshot> {
    const { offset, screen_error, ...shown } = await this.picture.snapshot(format, scrollback);
    return { ...shown, ...this.#size, offset, screen_error };
  }

  /** Of a terminal that has ended: gives back all but the last screen. */
  async condense(): Promise<void> {
    await this.picture.condense();
    this.ring.clear();
  }

  /** HUP, a grace, KILL; the program and all that it started are dead then, but for the pids that this resolves with. */
  async close(graceMs = destroyGraceMs): Promise<number[]> {
    this.keeping.stopped("cancelled");
    await this.#end(graceMs);
    await this.done;
    return [...this.left];
  }

  /** The same where all end together by one hand. */
  async closeAlongside(everybodysEnd: Promise<unknown>): Promise<void> {
    this.#ending ??= everybodysEnd.then(() => []);
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
    this.#turns.printed(chunk.length);
    noteGarbage(chunk.length); // what is made of it on its way
    this.picture.printed(chunk, this.displayCount > 0);
    this.audience.printed();
  }

  #answer(text: string): void {
    const hasRoom = !this.#exit && this.#pty.pendingBytes < inputPendingMaxBytes;
    if (hasRoom && text !== "") this.#pty.write(Buffer.from(text));
    this.#input.answered();
  }

  #resize(size: TerminalSize): void {
    if (size.cols === this.#size.cols && size.rows === this.#size.rows) return;
    this.#size = size;
    this.picture.resized(size);
    this.#pty.resize(size);
    this.audience.resized(size);
  }

  #refuseIfEnded(): void {
    if (this.#exit) throw new TrlError("SESSION_NOT_FOUND", `the program of terminal ${this.id} has ended`);
  }

  /** The end of the program is the end of the terminal: what it left running there goes, too. */
  async #watch(): Promise<void> {
    const { ownership } = this.spec;
    void this.#pty.exited.then(() => this.#turns.end());
    const exit = await this.#pty.ended;
    await ownership.removeRoot(this.#pty.pid);
    this.#endedAt = new Instant();
    this.picture.finish();
    const left = await ownership.membersOf({ sessionId: this.id });
    this.#exit = this.keeping.ended(exit, this.#pty.usage(), this.ring.end, left);
    this.audience.exited();
    this.left = (await this.#end(destroyGraceMs)).map(({ pid }) => pid);
    await this.keeping.dispose();
    ownership.removeSession(this.id);
    this.#isDone = true;
    this.audience.exited(); // those that stayed until everything is dead
  }

  #end(graceMs: number): Promise<ProcessEntry[]> {
    const how = { graceMs, signal: "SIGHUP" as const, whileFrozen: this.keeping.whileFrozen };
    this.#ending ??= terminate(this.spec.ownership, { sessionId: this.id }, how);
    return this.#ending;
  }
}
