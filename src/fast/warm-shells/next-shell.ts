// Starts a session's next shell ahead of its next command, and ends it after a while without one.
import { openSync } from "node:fs";
import type { ShellSource, ShellSupply } from "../../core/command/runners/accelerators.ts";
import type { SessionShell } from "../../core/command/runners/session-shell.ts";
import { commandDescriptors, warmShellIdleMs } from "../../core/limits.ts";
import { descriptorsLeft } from "../../core/resources.ts";
import { withPrivateUmask } from "../../util/private-files.ts";
import type { WarmShellHolder, WarmShellPool } from "./warm-shell-pool.ts";

/** A command that comes so soon after the last one is probably followed by another as soon. */
const hurryMs = 1;
/** A command that runs so long mostly waits, so the start of the next shell beside it slows nothing down. */
const besideDelayMs = 20;

export class NextShell implements ShellSupply, WarmShellHolder {
  #shell: SessionShell | undefined;
  #timer: Timer | undefined;
  #isDisposed = false;
  #isResting = false;
  #discarding = 0;
  #endedAt = 0;

  constructor(
    readonly source: ShellSource,
    readonly pool: WarmShellPool,
  ) {}

  get isAtRest(): boolean {
    return this.#isResting && !this.#shell && this.#discarding === 0;
  }

  get keepsShells(): boolean {
    return this.pool.hasCapacity || !this.pool.isUnderLoad;
  }

  open(): void {
    if (this.pool.hasCapacity) this.#start();
    this.#feed();
  }

  rest(): void {
    this.#isResting = true;
    void this.dropShell();
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.dropShell();
  }

  take(): SessionShell | undefined {
    this.#isResting = false;
    this.#stopTimer();
    this.pool.release(this);
    const shell = this.#shell;
    this.#shell = undefined;
    if (!shell || !(shell.hasEnded || shell.isOutdated)) return shell;
    void this.discard(shell);
    return undefined;
  }

  repliedWithoutShell(): void {
    if (this.#shell ? this.#shell.awaitsState : !this.pool.hasCapacity) return;
    if (!this.#shell) {
      this.replied();
      return;
    }
    this.#stopTimer();
    this.pool.hold(this);
    this.#dropWhenIdle();
  }

  putBack(shell: SessionShell): void {
    this.#stopTimer();
    if (this.#isDisposed || this.#isResting || shell.hasEnded) {
      void this.discard(shell);
      return;
    }
    if (this.#shell) void this.discard(this.#shell); // its state is older
    this.#shell = shell;
    this.pool.hold(this);
    this.#dropWhenIdle();
  }

  async discard(shell: SessionShell): Promise<void> {
    this.#discarding++;
    await shell.discard();
    this.#discarding--;
  }

  /**
   * Where command follows command without a pause, the next shell starts while this command runs. Otherwise it would
   * only take a processor from the command: there is time after its end. In an isolated session it would count against
   * the limits of the command.
   */
  commandBegan(): void {
    this.pool.began(this);
    if (this.source.isIsolated) return;
    const isHurried = performance.now() - this.#endedAt < hurryMs;
    if (isHurried) this.#startBeside();
    else this.#timer = setTimeout(() => this.#startBeside(), besideDelayMs);
  }

  commandEnded(): void {
    this.pool.ended(this);
    this.#endedAt = performance.now();
  }

  /** Under load the shell starts later, or with the next command, if that comes first. */
  replied(): void {
    if (this.#shell || !this.pool.isUnderLoad) this.startWithState();
    else this.pool.postpone(this);
  }

  startWithState(): void {
    this.#stopTimer();
    this.#startIfPossible();
    this.#feed();
  }

  async dropShell(): Promise<void> {
    this.#stopTimer();
    this.pool.release(this);
    const shell = this.#shell;
    this.#shell = undefined;
    if (shell) await this.discard(shell);
  }

  #feed(): void {
    this.#stopTimer();
    if (!this.#shell?.awaitsState) return;
    this.#shell.feedState(this.source.state);
    openAhead(this.#shell);
    this.#dropWhenIdle();
  }

  /** Clears the reference as well: thousands of idle sessions would each hold a timer. */
  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #dropWhenIdle(): void {
    this.#timer = setTimeout(() => void this.dropShell(), warmShellIdleMs);
  }

  #start(): void {
    if (this.#isDisposed || this.#isResting || this.#shell) return;
    this.#shell = this.source.newShell();
    this.pool.hold(this);
  }

  #startBeside(): void {
    if (!this.pool.isUnderLoad) this.#startIfPossible();
  }

  #startIfPossible(): void {
    try {
      this.#start();
    } catch {
      // The next command starts its shell itself, and its reply carries the error.
    }
  }
}

/** Opens the output pipes and the command file while no client waits. */
function openAhead({ process, files, dir, spec: { dialect } }: SessionShell): void {
  if (descriptorsLeft() < commandDescriptors) return;
  process.output.open();
  if (dialect.commandFile === "") return;
  try {
    files.commandFd ??= withPrivateUmask(() => openSync(`${dir}/${dialect.commandFile}`, "wx"));
  } catch {
    // A cleaner of /tmp removed the directory. The command fails to write its file and takes another shell.
  }
}
