// The shell that is started ahead of the next command, and how long it waits.
import { warmShellIdleMs } from "../../limits.ts";
import type { ShellState } from "../shell/dialect.ts";
import type { WarmShell } from "./warm-shell.ts";
import type { WarmShellHolder, WarmShellPool } from "./warm-shell-pool.ts";

/** Who comes again so soon will come again. */
const hurryMs = 1;
/** A command that runs so long mostly waits: the next shell is started beside it, and no line of a few programs is slowed. */
const spareDelayMs = 20;

/** Whose shell it is. */
export interface ShellOwner {
  newShell(): WarmShell;
  readonly state: ShellState;
}

export class NextShell implements WarmShellHolder {
  #shell: WarmShell | undefined;
  #timer: Timer | undefined;
  #isDisposed = false;
  #isResting = false;
  /** Shells that are being let go. */
  #leaving = 0;
  #settledAt = 0;

  constructor(
    readonly owner: ShellOwner,
    readonly warmShellPool: WarmShellPool,
  ) {}

  get isAtRest(): boolean {
    return this.#isResting && !this.#shell && this.#leaving === 0;
  }

  /** None is there, and none is started, until one is taken. */
  rest(): void {
    this.#isResting = true;
    void this.dropShell();
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.dropShell();
  }

  /** Undefined where none is there, or it has been killed while it waited. */
  take(): WarmShell | undefined {
    this.#isResting = false;
    this.#stopTimer();
    this.warmShellPool.release(this);
    const shell = this.#shell;
    this.#shell = undefined;
    if (!shell?.hasEnded) return shell;
    void this.discard(shell);
    return undefined;
  }

  /** The session is in use, if not by way of a shell. One is there again, as long as there are not many. */
  prepareAside(): void {
    if (this.#shell ? this.#shell.awaitsState : !this.warmShellPool.hasRoom) return;
    if (!this.#shell) {
      this.prepareNext();
      return;
    }
    this.#stopTimer();
    this.warmShellPool.hold(this);
    this.#waitForAWhile();
  }

  /** It was taken, and waits again: its state is the session's. */
  putBack(shell: WarmShell): void {
    this.#stopTimer();
    if (this.#isDisposed || this.#isResting || shell.hasEnded) {
      void this.discard(shell);
      return;
    }
    if (this.#shell) void this.discard(this.#shell); // it knows less
    this.#shell = shell;
    this.warmShellPool.hold(this);
    this.#waitForAWhile();
  }

  async discard(shell: WarmShell): Promise<void> {
    this.#leaving++;
    await shell.discard();
    this.#leaving--;
  }

  prepare(): void {
    if (this.#isDisposed || this.#isResting || this.#shell) return;
    this.#shell = this.owner.newShell();
    this.warmShellPool.hold(this);
  }

  /**
   * Where command follows command without a pause, the next shell is started while this one runs, and is ready when
   * it is wanted. Otherwise it would only take a processor from the command: there is time when that has ended.
   */
  prepareInTime(): void {
    const isHurried = performance.now() - this.#settledAt < hurryMs;
    if (isHurried) this.#prepareBeside();
    else this.#timer = setTimeout(() => this.#prepareBeside(), spareDelayMs);
  }

  /** The command runs from now on. */
  began(): void {
    this.warmShellPool.began(this);
  }

  /** The command has ended; the next one may come at once. */
  settled(): void {
    this.warmShellPool.ended(this);
    this.#settledAt = performance.now();
  }

  /** The command has ended. Under load the shell is started later: with its first command, if that comes sooner. */
  prepareNext(): void {
    if (this.#shell || !this.warmShellPool.isUnderLoad) this.prepareWithState();
    else this.warmShellPool.putOff(this);
  }

  /** With a session's state it waits for a while. */
  prepareWithState(): void {
    this.#stopTimer();
    this.#prepareIfPossible();
    this.feed();
  }

  feed(): void {
    this.#stopTimer();
    if (!this.#shell?.awaitsState) return;
    this.#shell.feedState(this.owner.state);
    this.#shell.getReady();
    this.#waitForAWhile();
  }

  /** One that is over is not held on to: there may be thousands. */
  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #waitForAWhile(): void {
    this.#timer = setTimeout(() => void this.dropShell(), warmShellIdleMs);
  }

  #prepareBeside(): void {
    if (!this.warmShellPool.isUnderLoad) this.#prepareIfPossible();
  }

  #prepareIfPossible(): void {
    try {
      this.prepare();
    } catch {
      // The next command starts its shell itself, or says why it cannot.
    }
  }

  async dropShell(): Promise<void> {
    this.#stopTimer();
    this.warmShellPool.release(this);
    const shell = this.#shell;
    this.#shell = undefined;
    if (shell) await this.discard(shell);
  }
}
