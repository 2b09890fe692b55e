// Schedules the screens of all terminals on two screen processes, one piece of work per screen in turn. Screens that
// exceeded their budget use the second process (quarantine), where they cannot delay the others.
//
// Direction of calls: screens add themselves to a ScreenQueue; the queue pulls their work, runs it in its process and
// reports the result. A screen never calls the process, and the process knows no screens.
import { TrlError } from "../../../protocol/errors.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import { ScreenProcess, ScreenProcessError } from "./screen-process.ts";
import { NeedsBacktracking, refusalError } from "./waits.ts";
import type { Pattern, Query, Result, Work } from "./work.ts";

export interface WorkSource {
  /** The next piece of work for that queue; undefined if there is none. */
  next(queue: ScreenQueue): Work | undefined;
  done(result: Result): void;
  failed(error: ScreenProcessError): void;
  /** Has an emulator in the screen process. */
  readonly isOpen: boolean;
}

/** Runs work: a ScreenProcess, or a test's replacement without a process. */
export interface Runner {
  /** Changes when the emulators are lost. */
  readonly instance: symbol;
  run(work: Work): Promise<Result>;
  stopWhenIdle(): void;
}

/** One screen process, and the screens that wait for it. */
export class ScreenQueue {
  readonly #waiting = new Set<WorkSource>();
  /** Screens with an emulator in the process, by number. */
  readonly #open = new Map<number, WorkSource>();
  #instance: symbol | undefined;
  #lastNumber = 0;
  #isRunning = false;

  constructor(readonly runner: Runner) {}

  /** A number for an emulator in this queue's process. */
  newNumber(): number {
    return ++this.#lastNumber;
  }

  add(source: WorkSource): void {
    this.#waiting.add(source);
    if (!this.#isRunning) void this.#run();
  }

  /** Closes the emulator of a screen that has moved to the other queue. */
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
    await undefined; // combines all requests of this turn of the event loop
    for (const source of this.#waiting) {
      this.#waiting.delete(source);
      if (this.#instance !== this.runner.instance) this.#open.clear();
      this.#instance = this.runner.instance;
      try {
        const work = source.next(this);
        if (!work) continue;
        this.#waiting.add(source); // to the end of the queue, until it has no work left
        await this.#do(source, work);
      } catch (error) {
        // A bug in one screen must not stop the others.
        source.failed(new ScreenProcessError("internal error", "over budget"));
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    this.#isRunning = false;
    if (this.#open.size === 0) this.runner.stopWhenIdle();
  }

  async #do(source: WorkSource, work: Work): Promise<void> {
    const result = await this.runner.run(work).catch((error: ScreenProcessError) => error);
    if (result instanceof ScreenProcessError) {
      source.failed(result);
      return;
    }
    const tooLarge = () => new ScreenProcessError("it exceeds the memory limit of a screen", "over budget");
    for (const number of result.dropped) {
      if (number !== work.screen) this.#open.get(number)?.failed(tooLarge());
      this.#open.delete(number);
    }
    if (result.broken !== undefined) source.failed(new ScreenProcessError(result.broken, "over budget"));
    else if (result.dropped.includes(work.screen)) source.failed(tooLarge());
    else source.done(result);
    if (source.isOpen && !work.close) this.#open.set(work.screen, source);
    else this.#open.delete(work.screen);
  }
}

export class Screens {
  readonly #usualProcess: ScreenProcess;
  readonly usual: ScreenQueue;
  /** For screens that exceeded their budget. */
  readonly quarantine: ScreenQueue;

  constructor(ownership: ProcessOwnership) {
    this.#usualProcess = new ScreenProcess(ownership, 0);
    this.usual = new ScreenQueue(this.#usualProcess);
    this.quarantine = new ScreenQueue(new ScreenProcess(ownership, 2));
  }

  /** Starts the process ahead of the first screen. */
  start(): void {
    try {
      this.#usualProcess.startAhead();
    } catch {
      // The start is retried, and its error reported, when a client asks for a screen.
    }
  }

  /** Searches a stored text, in a screen process, as the client chooses the expression. */
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

/** A source of a single piece of work. */
function once(work: Work, done: WorkSource["done"], failed: WorkSource["failed"]): WorkSource {
  let next: Work | undefined = work;
  const take = () => {
    const taken = next;
    next = undefined;
    return taken;
  };
  return { isOpen: false, next: take, done, failed };
}
