// Screens without a screen process: the work runs in the test, and can be made to fail.
import { ScreenProcessError } from "../../src/core/terminal/screen/screen-process.ts";
import { ScreenReader } from "../../src/core/terminal/screen/screen-reader.ts";
import { type Runner, ScreenQueue } from "../../src/core/terminal/screen/screens.ts";
import type { Result, Work } from "../../src/core/terminal/screen/work.ts";

export class RunnerHere implements Runner {
  instance = Symbol();
  reader = new ScreenReader();
  /** Errors of the next pieces of work. */
  failures: ScreenProcessError[] = [];
  works: Work[] = [];
  /** The reported processor time of each piece of work. */
  busyMs = 1;

  async run(work: Work): Promise<Result> {
    this.works.push(work);
    const failure = this.failures.shift();
    if (!failure) return { ...structuredClone(this.reader.do(structuredClone(work))), busyMs: this.busyMs };
    this.end();
    throw failure;
  }

  /** Simulates a crash of the process: its emulators are lost. */
  end(): void {
    this.instance = Symbol();
    this.reader = new ScreenReader();
  }

  stopWhenIdle(): void {}
}

export const overBudget = () => new ScreenProcessError("a piece of its output takes too long", "over budget");
export const lostProcess = () => new ScreenProcessError("its process has ended", "lost");

export function queuesHere() {
  const runner = new RunnerHere();
  const quarantineRunner = new RunnerHere();
  return {
    runner,
    quarantineRunner,
    queues: { usual: new ScreenQueue(runner), quarantine: new ScreenQueue(quarantineRunner) },
  };
}
