// A process beside the daemon in which emulators read output. A program chooses what its terminal has to read, and some
// output takes minutes or gigabytes to read: here that stops no client of the daemon, and can be ended at any time.

import { constants, getPriority, setPriority } from "node:os";
import { killBeforeDaemon } from "../../../platform/oom-score.ts";
import { ownExecutable } from "../../../platform/own-program.ts";
import { runningUsage } from "../../../platform/process-usage.ts";
import { screenProcessCommand } from "../../../util/internal-commands.ts";
import { screenProcessBytesMax, screenProcessIdleMs, screenWorkMs } from "../../limits.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import { requireDescriptors } from "../../resources.ts";
import type { Result, Work } from "./work.ts";

/** How often a piece of work is looked at while it is done. */
const watchMs = 100;

/** On a busy machine the work may have to wait for a processor: so much longer than the time that it may use. */
const patienceFactor = 10;

/** The work took more than it may, the process has ended for another reason, or it could not be started. */
export type ScreenProcessFailure = "over budget" | "lost" | "unavailable";

export class ScreenProcessError extends Error {
  constructor(
    message: string,
    readonly failure: ScreenProcessFailure,
  ) {
    super(message);
  }
}

/** Of all processes together: an emulator is in the one of its generation, and in no other. */
let generations = 0;

interface UnderWay {
  resolve(result: Result): void;
  reject(error: ScreenProcessError): void;
  since: number;
  /** Processor time of the process when the work was first looked at. */
  cpuMsBefore: number | undefined;
}

export class ScreenProcess {
  /** Counts the processes: what a screen has in an earlier one is gone. */
  generation = ++generations;
  #child: Bun.Subprocess | undefined;
  #work: UnderWay | undefined;
  #watch: Timer | undefined;
  #idle: Timer | undefined;

  constructor(
    readonly ownership: ProcessOwnership,
    /** Below others by so much, where several want a processor. */
    readonly niceness: number,
  ) {}

  /** Before there is work: it goes again where none comes. */
  startAhead(): void {
    if (this.#child) return;
    this.#start();
    this.rest();
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
      // What an ended process had still sent is not about the work of the next one.
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

  /** One at a time. */
  run(work: Work): Promise<Result> {
    clearTimeout(this.#idle);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    try {
      this.#start();
      this.#child!.send(work);
    } catch (error) {
      this.stop();
      this.#forget();
      const why = `its process cannot be started: ${(error as Error).message}`;
      reject(new ScreenProcessError(why, "unavailable"));
      return promise;
    }
    this.#work = { resolve, reject, since: performance.now(), cpuMsBefore: undefined };
    this.#watch ??= setInterval(() => this.#look(), watchMs);
    return promise;
  }

  /** Nothing is to be done now, and no screen is open: after a while the process goes. */
  rest(): void {
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
    this.generation = ++generations;
  }

  #look(): void {
    const { since, cpuMsBefore } = this.#work!;
    const { cpuMs, residentBytes } = runningUsage(this.#child!.pid) ?? {};
    if (residentBytes !== undefined && residentBytes > screenProcessBytesMax) {
      this.#fail(`it needs more than ${screenProcessBytesMax / 1024 / 1024} MB of memory`, "over budget");
      return;
    }
    this.#work!.cpuMsBefore ??= cpuMs;
    const elapsedMs = performance.now() - since;
    const usedMs = cpuMs === undefined ? elapsedMs : cpuMs - (cpuMsBefore ?? cpuMs);
    if (usedMs > screenWorkMs || elapsedMs > screenWorkMs * patienceFactor)
      this.#fail(`a piece of its output takes more than ${screenWorkMs / 1000} s to read`, "over budget");
  }
}

function setNiceness(pid: number, niceness: number): void {
  try {
    if (niceness > 0) setPriority(pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness));
  } catch {
    // It has ended already.
  }
}

/** The file that runs now: another version may have been installed since. */
function ownCommand(): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return [ownExecutable, ...(isCompiled ? [] : [Bun.main]), screenProcessCommand];
}
