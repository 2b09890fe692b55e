// One terminal: a program on a pseudo-terminal, its last output, its screen, and those who watch. It lives until its
// program ends or it is closed, whoever comes and goes.
import { TrlError } from "../../protocol/errors.ts";
import type { Snapshot, SnapshotFormat } from "../../protocol/pty.ts";
import type { Enclosure } from "../isolation/enclosure.ts";
import { destroyGraceMs, inputPendingMaxBytes, terminalRingBytes } from "../limits.ts";
import type { Custody } from "../process/custody.ts";
import { endBeforeDaemon } from "../process/first-victim-linux.ts";
import { noteGarbage } from "../process/garbage.ts";
import { terminate } from "../process/terminate.ts";
import { Audience, type TerminalListener } from "./audience.ts";
import type { PtyDriver, PtyExit, PtyProcess, PtySpec, TerminalSize } from "./driver.ts";
import { EchoWait } from "./echo-wait.ts";
import { Keeping } from "./keeping.ts";
import { OutputRing } from "./output-ring.ts";
import { type Look, Screen } from "./screen.ts";
import { requireSize, SizePolicy, type Typist } from "./size-policy.ts";
import { finalView, type ScreenView, shown, viewOf } from "./snapshot.ts";
import { somebodyTyped, Turns } from "./turns.ts";

/** ^S */
const xoff = 0x13;

export interface TerminalSpec {
  id: string;
  name: string | null;
  shell: string;
  command: string | null;
  driver: PtyDriver;
  /** As the program sees it. */
  workingDir: string;
  idleTimeoutS: number;
  maxAgeS: number;
  enclosure: Enclosure | undefined;
  pty: Omit<PtySpec, "onOutput">;
  custody: Custody;
}

export class Terminal {
  readonly ring = new OutputRing(terminalRingBytes);
  readonly createdAt = new Date();
  readonly done: Promise<void>;
  readonly echo = new EchoWait();
  readonly keeping: Keeping;
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
  readonly #audience = new Audience();
  #ending: Promise<unknown> | undefined;

  constructor(readonly spec: TerminalSpec) {
    const { custody, driver, id, pty } = spec;
    this.#size = { cols: pty.cols, rows: pty.rows };
    this.#screen = new Screen(this.ring, this.#size, (text) => this.#answer(text));
    const cgroup = spec.enclosure?.cgroup;
    custody.addSession(id, cgroup && (() => cgroup.members()));
    this.keeping = new Keeping(spec.enclosure);
    try {
      this.#pty = driver.spawn({ ...pty, onOutput: (chunk) => this.#printed(chunk) });
    } catch (error) {
      custody.removeSession(id);
      throw new TrlError("SPAWN_FAILED", `${pty.argv[0]} could not be started: ${(error as Error).message}`);
    }
    endBeforeDaemon(this.#pty.pid);
    custody.addRoot(this.#pty.pid, { sessionId: id, commandId: id });
    this.#turns = new Turns(this.#pty.pid);
    this.keeping.watch(() => void this.#end(destroyGraceMs));
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

  /** Also by who only waits for something. */
  get isAttended(): boolean {
    return this.#audience.size > 0;
  }

  /** Somebody looks at it. */
  touch(): void {
    this.#lastActivity = Date.now();
  }

  get displayCount(): number {
    return this.#audience.displayCount;
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

  listen(listener: TerminalListener): void {
    this.#audience.add(listener);
  }

  unlisten(listener: TerminalListener): void {
    this.#audience.remove(listener);
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
    this.keeping.stopped("cancelled");
    await this.#end(graceMs);
    await this.done;
  }

  /** The same where all end together by one hand. */
  async closeAlongside(everybodysEnd: Promise<unknown>): Promise<void> {
    this.#ending ??= everybodysEnd;
    await this.close();
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
    noteGarbage(chunk.length); // what is made of it on its way
    this.#screen.printed(chunk, this.displayCount > 0);
    this.#audience.printed();
    this.echo.printed();
  }

  #answer(text: string): void {
    if (!this.#exit && this.#pty.pendingBytes < inputPendingMaxBytes) this.#pty.write(Buffer.from(text));
  }

  #resize(size: TerminalSize): void {
    if (size.cols === this.#size.cols && size.rows === this.#size.rows) return;
    this.#size = size;
    this.#screen.resized(size);
    this.#pty.resize(size);
    this.#audience.resized(size);
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
    const left = custody.membersOf({ sessionId: this.id });
    this.#exit = this.keeping.ended(exit, this.#pty.usage(), this.ring.end, left);
    this.#audience.exited();
    await this.#end(destroyGraceMs);
    await this.keeping.dispose();
    custody.removeSession(this.id);
  }

  #end(graceMs: number): Promise<unknown> {
    const how = { graceMs, signal: "SIGHUP" as const, whileFrozen: this.keeping.whileFrozen };
    this.#ending ??= terminate(this.spec.custody, { sessionId: this.id }, how);
    return this.#ending;
  }
}
