// Screens without a process: the work is done here, and may be made to fail.
import { ScreenProcessError } from "../../src/core/pty/screen/screen-process.ts";
import { ScreenReader } from "../../src/core/pty/screen/screen-reader.ts";
import { type Runner, ScreenQueue } from "../../src/core/pty/screen/screens.ts";
import type { Result, Work } from "../../src/core/pty/screen/work.ts";

export class RunnerHere implements Runner {
  generation = 1;
  reader = new ScreenReader();
  /** The next pieces of work fail so. */
  failures: ScreenProcessError[] = [];
  works: Work[] = [];

  async run(work: Work): Promise<Result> {
    this.works.push(work);
    const failure = this.failures.shift();
    if (!failure) return structuredClone(this.reader.do(structuredClone(work)));
    this.end();
    throw failure;
  }

  /** As where the process has ended: its emulators are gone. */
  end(): void {
    this.generation++;
    this.reader = new ScreenReader();
  }

  rest(): void {}
}

export const overBudget = () => new ScreenProcessError("a piece of its output takes too long", true);
export const lostProcess = () => new ScreenProcessError("its process has ended", false);

export function queuesHere() {
  const runner = new RunnerHere();
  const quarantineRunner = new RunnerHere();
  return {
    runner,
    quarantineRunner,
    queues: { usual: new ScreenQueue(runner), quarantine: new ScreenQueue(quarantineRunner) },
  };
}
