// One terminal: a program on a pseudo-terminal, its last output, its screen, and those who watch. It lives until its
// program ends or it is closed, whoever comes and goes.
import { TrlError } from "../../protocol/errors.ts";
import type { Snapshot, SnapshotFormat } from "../../protocol/pty.ts";
import { destroyGraceMs, echoMs, inputPendingMaxBytes, terminalRingBytes } from "../limits.ts";
import type { Custody } from "../process/custody.ts";
import { noteGarbage } from "../process/garbage.ts";
import { terminate } from "../process/terminate.ts";
import type { PtyDriver, PtyExit, PtyProcess, PtySpec, TerminalSize } from "./driver.ts";
import { OutputRing } from "./output-ring.ts";
import { type Look, Screen } from "./screen.ts";
import { requireSize, SizePolicy, type Typist } from "./size-policy.ts";
import { finalView, type ScreenView, shown, viewOf } from "./snapshot.ts";
import { somebodyTyped, Turns } from "./turns.ts";

/** ^S */
const xoff = 0x13;

/** The chunk itself, and what is made of it on its way. */
const garbagePerByte = 2;

export interface TerminalSpec {
  id: string;
  name: string | null;
  shell: string;
  command: string | null;
  driver: PtyDriver;
  pty: Omit<PtySpec, "onOutput">;
  custody: Custody;
}

/** Who watches a terminal. */
export interface TerminalListener {
  /** Shows the output to somebody, and answers the program's questions to its terminal. */
  readonly isDisplay: boolean;
  printed(): void;
  resized(size: TerminalSize): void;
  exited(): void;
}

export class Terminal {
  readonly ring = new OutputRing(terminalRingBytes);
  readonly createdAt = new Date();
  readonly done: Promise<void>;
  #lastActivity = Date.now();
  #endedAt: Date | undefined;
  #exit: PtyExit | undefined;
  #size: TerminalSize;
  readonly #sizes = new SizePolicy();
  readonly #pty: PtyProcess;
  readonly #turns: Turns;
  readonly #screen: Screen;
  /** The last screen, where it could not be made again from what is kept. */
  #final: ScreenView | undefined;
  readonly #listeners = new Set<TerminalListener>();
  #ending: Promise<unknown> | undefined;
  readonly #awaitingOutput: (() => void)[] = [];
  #echoTimer: Timer | undefined;

  constructor(readonly spec: TerminalSpec) {
    const { custody, driver, id, pty } = spec;
    this.#size = { cols: pty.cols, rows: pty.rows };
    this.#screen = new Screen(this.ring, this.#size, (text) => this.#answer(text));
    custody.addSession(id);
    try {
      this.#pty = driver.spawn({ ...pty, onOutput: (chunk) => this.#printed(chunk) });
    } catch (error) {
      custody.removeSession(id);
      throw new TrlError("SPAWN_FAILED", `${pty.argv[0]} could not be started: ${(error as Error).message}`);
    }
    custody.addRoot(this.#pty.pid, { sessionId: id, commandId: id });
    this.#turns = new Turns(this.#pty.pid);
    this.done = this.#watch();
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

  get endedAt(): Date | undefined {
    return this.#endedAt;
  }

  get displayCount(): number {
    let count = 0;
    for (const { isDisplay } of this.#listeners) if (isDisplay) count++;
    return count;
  }

  /** Order is kept; what the program does not read is bounded. Without a client nobody has typed it. */
  write(bytes: Uint8Array, client: Typist | undefined): number {
    this.#refuseIfEnded();
    const { pendingBytes } = this.#pty;
    if (pendingBytes + bytes.length > inputPendingMaxBytes) {
      const pending = `${pendingBytes} bytes wait to be read, at most ${inputPendingMaxBytes} may`;
      throw new TrlError("REQUEST_TOO_LARGE", `the program does not read its input: ${pending}`);
    }
    somebodyTyped();
    if (bytes.includes(xoff)) this.#turns.letUserDecide();
    const size = client && this.#sizes.typed(client);
    if (size) this.#resize(size);
    this.#lastActivity = Date.now();
    this.#pty.write(bytes);
    return this.#pty.pendingBytes;
  }

  /** False where another client decides the size. */
  resize(size: TerminalSize, client: Typist): boolean {
    this.#refuseIfEnded();
    requireSize(size);
    const decides = this.#sizes.wants(client, size);
    if (decides) this.#resize(size);
    return decides;
  }

  /** Resolves when something is printed, or in a moment. */
  printedOrLate(): Promise<void> {
    this.#echoTimer ??= setTimeout(() => this.#wakeAwaiting(), echoMs);
    return new Promise((resolve) => void this.#awaitingOutput.push(resolve));
  }

  #wakeAwaiting(): void {
    this.#echoTimer = undefined;
    for (const resolve of this.#awaitingOutput.splice(0)) resolve();
  }

  listen(listener: TerminalListener): void {
    this.#listeners.add(listener);
  }

  unlisten(listener: TerminalListener): void {
    this.#listeners.delete(listener);
  }

  /** Reads what has not been read yet; `look` sees the screen on the way and in the end. */
  look(look: Look): void {
    if (!this.#final) look(this.#screen.read(look));
  }

  /** The last screen, where the emulator is gone. */
  get finalText(): string | undefined {
    return this.#final?.lines(0).join("\n");
  }

  snapshot(format: SnapshotFormat, scrollback: number): Snapshot {
    const view = this.#final ?? viewOf(this.#screen.read());
    return { ...shown(view, format, scrollback), ...this.#size, offset: this.boundary };
  }

  /** Where the output goes on behind a redraw. */
  get boundary(): number {
    return this.#final ? this.ring.end : this.#screen.boundary;
  }

  /** Of a terminal that has ended: gives back all but the last screen. */
  condense(): void {
    this.#final ??= finalView(this.#screen.read());
    this.#screen.dispose();
    this.ring.clear();
  }

  redraw(scrollback: number): string {
    return (this.#final ?? viewOf(this.#screen.read())).redraw(scrollback);
  }

  /** HUP, a grace, KILL; the program and all that it started are dead when this resolves. */
  async close(graceMs = destroyGraceMs): Promise<void> {
    this.#ending ??= terminate(this.spec.custody, { sessionId: this.id }, { graceMs, signal: "SIGHUP" });
    await this.#ending;
    await this.done;
  }

  /** The same where all end together by one hand. */
  async closeAlongside(everybodysEnd: Promise<unknown>): Promise<void> {
    this.#ending ??= everybodysEnd;
    await this.#ending;
    await this.done;
  }

  /** To be called now and then. True where memory was given back. */
  tend(): boolean {
    return this.#screen.rest();
  }

  get pid(): number {
    return this.#pty.pid;
  }

  get lastActivity(): Date {
    return new Date(this.#lastActivity);
  }

  #printed(chunk: Uint8Array): void {
    this.#lastActivity = Date.now();
    this.ring.push(chunk);
    this.#turns.printed(chunk.length);
    noteGarbage(chunk.length * garbagePerByte);
    this.#screen.printed(chunk, this.displayCount > 0);
    for (const listener of this.#listeners) listener.printed();
    if (this.#awaitingOutput.length > 0) for (const resolve of this.#awaitingOutput.splice(0)) resolve();
  }

  #answer(text: string): void {
    if (!this.#exit && this.#pty.pendingBytes < inputPendingMaxBytes) this.#pty.write(Buffer.from(text));
  }

  #resize(size: TerminalSize): void {
    if (size.cols === this.#size.cols && size.rows === this.#size.rows) return;
    this.#size = size;
    this.#screen.resized(size);
    this.#pty.resize(size);
    for (const listener of this.#listeners) listener.resized(size);
  }

  #refuseIfEnded(): void {
    if (this.#exit) throw new TrlError("SESSION_NOT_FOUND", `the program of terminal ${this.id} has ended`);
  }

  /** The end of the program is the end of the terminal: what it left running there goes, too. */
  async #watch(): Promise<void> {
    const { custody } = this.spec;
    void this.#pty.exited.then(() => this.#turns.end());
    const exit = await this.#pty.ended;
    custody.removeRoot(this.#pty.pid);
    this.#endedAt = new Date();
    if (!this.#screen.canForget) this.#final = finalView(this.#screen.read());
    if (this.#final) this.#screen.dispose();
    this.#exit = exit;
    for (const listener of [...this.#listeners]) listener.exited();
    this.#ending ??= terminate(
      custody,
      { sessionId: this.id },
      { graceMs: destroyGraceMs, signal: "SIGHUP" },
    );
    await this.#ending;
    custody.removeSession(this.id);
  }
}
