// The daemon's handle of a screen process, in which emulators read output. Hostile output can take an emulator minutes or
// gigabytes: in another process this blocks no client, and the daemon kills the process when it exceeds its budget.
import { constants, getPriority, setPriority } from "node:os";
import { killBeforeDaemon } from "../../../platform/oom-score.ts";
import { ownExecutable } from "../../../platform/own-program.ts";
import { runningUsage } from "../../../platform/process-usage.ts";
import { screenProcessCommand } from "../../../util/internal-commands.ts";
import { screenProcessBytesMax, screenProcessIdleMs, screenWorkMs } from "../../limits.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import { requireDescriptors } from "../../resources.ts";
import type { Result, Work } from "./work.ts";

/** How often the budget of running work is checked. */
const watchMs = 100;

/** The timeout as a multiple of the processor time limit: on a busy machine the work waits for a processor. */
const timeoutFactor = 10;

/** The work exceeded its budget, the process crashed, or it could not be started. */
export type ScreenProcessFailure = "over budget" | "lost" | "unavailable";

export class ScreenProcessError extends Error {
  constructor(
    message: string,
    readonly failure: ScreenProcessFailure,
  ) {
    super(message);
  }
}

interface RunningWork {
  resolve(result: Result): void;
  reject(error: ScreenProcessError): void;
  startedMs: number;
  /** Processor time of the process at the first check. */
  cpuMsBefore: number | undefined;
}

export class ScreenProcess {
  /** Identifies the process: after a restart the emulators are gone. */
  instance = Symbol("screen process");
  #child: Bun.Subprocess | undefined;
  #work: RunningWork | undefined;
  #watch: Timer | undefined;
  #idle: Timer | undefined;

  constructor(
    readonly ownership: ProcessOwnership,
    /** Added to the daemon's own niceness. */
    readonly niceness: number,
  ) {}

  /** Starts the process before there is work; without work it stops after the idle timeout. */
  startAhead(): void {
    if (this.#child) return;
    this.#start();
    this.stopWhenIdle();
  }

  #start(): void {
    if (this.#child) return;
    requireDescriptors();
    const child: Bun.Subprocess = Bun.spawn(ownCommand(), {
      argv0: "trl",
      env: { ...this.ownership.exemption.env },
      cwd: "/",
      stdio: ["ignore", "ignore", "ignore"],
      serialization: "advanced",
      // A late result of a killed process does not belong to the work of the next one.
      ipc: (result: Result) => {
        if (this.#child === child) this.#done(result);
      },
      onExit: () => this.#ended(child),
    });
    this.#child = child;
    killBeforeDaemon(child.pid);
    setNiceness(child.pid, this.niceness);
    child.unref();
  }

  /** Must not be called again before the promise settles. */
  run(work: Work): Promise<Result> {
    clearTimeout(this.#idle);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    try {
      this.#start();
      this.#child!.send(work);
    } catch (error) {
      this.stop();
      this.#forget();
      const message = `its process cannot be started: ${(error as Error).message}`;
      reject(new ScreenProcessError(message, "unavailable"));
      return promise;
    }
    this.#work = { resolve, reject, startedMs: performance.now(), cpuMsBefore: undefined };
    this.#watch ??= setInterval(() => this.#checkBudget(), watchMs);
    return promise;
  }

  /** Stops the process after the idle timeout, unless there is work before. */
  stopWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.stop(), screenProcessIdleMs);
    this.#idle.unref();
  }

  stop(): void {
    clearTimeout(this.#idle);
    this.#child?.kill("SIGKILL");
  }

  #done(result: Result): void {
    const work = this.#work;
    this.#work = undefined;
    clearInterval(this.#watch);
    this.#watch = undefined;
    work?.resolve(result);
  }

  #fail(message: string, failure: ScreenProcessFailure): void {
    const work = this.#work;
    this.#work = undefined;
    clearInterval(this.#watch);
    this.#watch = undefined;
    this.stop();
    this.#forget();
    work?.reject(new ScreenProcessError(message, failure));
  }

  #ended(child: Bun.Subprocess): void {
    if (this.#child !== child) return;
    this.#forget();
    this.#fail("its process has ended", "lost");
  }

  #forget(): void {
    this.#child = undefined;
    this.instance = Symbol("screen process");
  }

  #checkBudget(): void {
    const { startedMs, cpuMsBefore } = this.#work!;
    const { cpuMs, residentBytes } = runningUsage(this.#child!.pid) ?? {};
    if (residentBytes !== undefined && residentBytes > screenProcessBytesMax) {
      this.#fail(`it needs more than ${screenProcessBytesMax / 1024 / 1024} MB of memory`, "over budget");
      return;
    }
    this.#work!.cpuMsBefore ??= cpuMs;
    const elapsedMs = performance.now() - startedMs;
    const usedMs = cpuMs === undefined ? elapsedMs : cpuMs - (cpuMsBefore ?? cpuMs);
    if (usedMs > screenWorkMs || elapsedMs > screenWorkMs * timeoutFactor)
      this.#fail(`a piece of its output takes more than ${screenWorkMs / 1000} s to read`, "over budget");
  }
}

function setNiceness(pid: number, niceness: number): void {
  try {
    if (niceness > 0) setPriority(pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness));
  } catch {
    // The process has exited already.
  }
}

/** The running executable itself: another version may have been installed at its path. */
function ownCommand(): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  const program = process.platform === "linux" ? ownExecutable : process.execPath;
  return [program, ...(isCompiled ? [] : [Bun.main]), screenProcessCommand];
}
