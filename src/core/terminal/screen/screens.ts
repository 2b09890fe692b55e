// Shares the screen processes among the screens of all terminals: each has its turn with one piece of work. A screen that
// has once taken more than it may goes to a process of its own kind, where it cannot delay the others.
import { TrlError } from "../../../protocol/errors.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import { ScreenProcess, ScreenProcessError } from "./screen-process.ts";
import { NeedsBacktracking, refusalError } from "./waits.ts";
import type { Pattern, Query, Result, Work } from "./work.ts";

export interface Worker {
  /** The next piece of work for that queue; undefined where there is nothing to do. */
  next(queue: ScreenQueue): Work | undefined;
  done(result: Result): void;
  failed(error: ScreenProcessError): void;
  /** Has an emulator in the process. */
  readonly isOpen: boolean;
}

/** What a screen needs of a process; tests have one without a process. */
export interface Runner {
  readonly generation: number;
  run(work: Work): Promise<Result>;
  rest(): void;
}

/** One process, and the screens that wait for it. */
export class ScreenQueue {
  readonly #waiting = new Set<Worker>();
  /** Those with an emulator in the process, by their numbers. */
  readonly #open = new Map<number, Worker>();
  #generation = 0;
  #isRunning = false;

  constructor(readonly runner: Runner) {}

  add(worker: Worker): void {
    this.#waiting.add(worker);
    if (!this.#isRunning) void this.#run();
  }

  /** An emulator that another process has taken the place of. */
  close(screen: number): void {
    this.add(
      once(
        { screen, pieces: [], patterns: [], close: true },
        () => {},
        () => {},
      ),
    );
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    await undefined; // what is asked for in this turn is done together
    for (const worker of this.#waiting) {
      this.#waiting.delete(worker);
      if (this.#generation !== this.runner.generation) this.#open.clear();
      this.#generation = this.runner.generation;
      try {
        const work = worker.next(this);
        if (!work) continue;
        this.#waiting.add(worker); // behind the others, until it has nothing left
        await this.#do(worker, work);
      } catch (error) {
        // One that cannot be worked for must not stop the others.
        worker.failed(new ScreenProcessError("it cannot be worked for", "over budget"));
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    this.#isRunning = false;
    if (this.#open.size === 0) this.runner.rest();
  }

  async #do(worker: Worker, work: Work): Promise<void> {
    const result = await this.runner.run(work).catch((error: ScreenProcessError) => error);
    if (result instanceof ScreenProcessError) {
      worker.failed(result);
      return;
    }
    const tooLarge = () => new ScreenProcessError("it needs more memory than a screen may", "over budget");
    for (const number of result.dropped) {
      if (number !== work.screen) this.#open.get(number)?.failed(tooLarge());
      this.#open.delete(number);
    }
    if (result.broken !== undefined) worker.failed(new ScreenProcessError(result.broken, "over budget"));
    else if (result.dropped.includes(work.screen)) worker.failed(tooLarge());
    else worker.done(result);
    if (worker.isOpen && !work.close) this.#open.set(work.screen, worker);
    else this.#open.delete(work.screen);
  }
}

export class Screens {
  readonly #usualProcess: ScreenProcess;
  readonly usual: ScreenQueue;
  /** For those that have been over their budget. */
  readonly quarantine: ScreenQueue;

  constructor(
    ownership: ProcessOwnership,
    /** For the plain-text scan of floods. */
    readonly plainStart?: (bytes: Uint8Array) => number,
  ) {
    this.#usualProcess = new ScreenProcess(ownership, 0);
    this.usual = new ScreenQueue(this.#usualProcess);
    this.quarantine = new ScreenQueue(new ScreenProcess(ownership, 2));
  }

  /** The first screen is wanted soon. */
  start(): void {
    try {
      this.#usualProcess.startAhead();
    } catch {
      // It is tried again when a screen is wanted, and said then.
    }
  }

  /** Of text that is kept: not in the daemon, as its size is a client's to choose. */
  async match(text: string, pattern: Pattern): Promise<"text" | "regex" | undefined> {
    try {
      return await matchIn(this.usual, { kind: "match", text, pattern });
    } catch (error) {
      if (!(error instanceof NeedsBacktracking)) throw error;
      return matchIn(this.quarantine, { kind: "match", text, pattern: { ...pattern, mayBacktrack: true } });
    }
  }
}

function matchIn(queue: ScreenQueue, query: Query): Promise<"text" | "regex" | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<"text" | "regex" | undefined>();
  const done = ({ answer, refusal }: Result) =>
    refusal ? reject(refusalError(refusal)) : resolve(answer as "text" | "regex" | undefined);
  const failed = ({ message }: Error) => reject(new TrlError("RESOURCE_PRESSURE", message));
  queue.add(once({ screen: 0, pieces: [], patterns: [], query }, done, failed));
  return promise;
}

/** For one piece of work. */
function once(work: Work, done: Worker["done"], failed: Worker["failed"]): Worker {
  let next: Work | undefined = work;
  const take = () => {
    const taken = next;
    next = undefined;
    return taken;
  };
  return { isOpen: false, next: take, done, failed };
}
