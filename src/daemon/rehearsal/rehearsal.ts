// A daemon that has just begun does for a moment what it will be asked to do: keys at a terminal, builtins in a session.
// The engine compiles a function when it has been called some dozens of times, and again, better, after hundreds and
// thousands. Until then everything is slower, and what is compiled meanwhile takes a processor from whoever waits: the
// first thousand keys would have echoes of milliseconds among them. Whoever asks for something comes first.
import { descriptorLimit, memoryLimit, openDescriptors } from "../../core/resources.ts";
import { descriptorsMax } from "../../core/session/pressure.ts";
import type { Rooms } from "../doors.ts";
import type { DaemonOptions } from "../options.ts";
import { Part } from "./part.ts";
import { Stage } from "./stage.ts";

/** So many keys, and a command with every so many; docs/performance.md says what fewer and more are worth. */
const keys = 2000;
const keysPerCommand = 5;
/** The daemon looks at what is in its custody once a second, and oftener behind a new command. */
const keysPerCensus = 20;

/**
 * Played by turns. With one the engine would take what there is once for what there can only be once, and throw its work
 * away when the first client comes.
 */
const stageNames = ["a", "b"];

/** Whoever starts a daemon mostly has something to ask. */
const beginAfterMs = 20;
/** Since the last thing that anybody said or was told. */
const quietMs = 3;
/** For a daemon that never has a quiet moment it is too late: what it does has been compiled. */
const lastsMaxMs = 5000;
/** A step takes a fraction of a millisecond, and some where the engine compiles. On a busy machine others come first. */
const slowMs = 5;
const slowStepsMax = 10;

/** It takes some fifty descriptors for a moment, and 20 MB for good. */
const descriptorsMin = 256;
const memoryMinMb = 256;

/** Where little is allowed, all of it is for those who ask. */
function hasRoom(options: DaemonOptions): boolean {
  const { memoryPressureMb } = options;
  const descriptors = Math.min(descriptorsMax(options), descriptorLimit());
  const memoryMb = Math.min(memoryPressureMb || Number.POSITIVE_INFINITY, memoryLimit() / 1024 / 1024);
  return descriptors - openDescriptors() >= descriptorsMin && memoryMb >= memoryMinMb;
}

export class Rehearsal {
  /** Nothing of it is left. */
  readonly ended: Promise<void>;
  readonly #rooms: Rooms;
  readonly #stopped = Promise.withResolvers<never>();
  #isOver = false;
  #lastPulse = 0;
  #slowSteps = 0;

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
    this.#stopped.promise.catch(() => {}); // whoever waits for it hears of it
    this.ended = this.#run();
  }

  async end(): Promise<void> {
    this.#stop("the daemon has other things to do");
    await this.ended;
  }

  #stop(why: string): void {
    this.#isOver = true;
    this.#stopped.reject(new Error(why));
  }

  async #run(): Promise<void> {
    const { log, options } = this.#rooms;
    const timer = setTimeout(() => this.#stop("there was no quiet moment"), lastsMaxMs);
    const stages: Stage[] = [];
    const began = performance.now();
    try {
      await this.#unlessStopped(Bun.sleep(beginAfterMs));
      if (!hasRoom(options)) throw new Error("there is little room");
      await this.#unlessStopped(this.#play(stages));
      log.debug("rehearsed", { ms: Math.round(performance.now() - began) });
    } catch (error) {
      // No bash, no room for terminals or files, a busy machine: the daemon begins as it is.
      log.debug("not rehearsed", { cause: (error as Error).message });
    }
    this.#isOver = true;
    clearTimeout(timer);
    for (const stage of stages) await stage.close();
  }

  #unlessStopped<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#stopped.promise]);
  }

  async #play(stages: Stage[]): Promise<void> {
    // The engine makes each of its functions when it is first asked for. From then on `Promise` is another one to what
    // was compiled before, and every `instanceof Promise` in there is compiled again.
    Object.getOwnPropertyDescriptors(Promise);
    const parts: Part[] = [];
    for (const name of stageNames) {
      await this.#quiet();
      const stage = new Stage(this.#rooms, name);
      stages.push(stage);
      parts.push(await Part.on(stage, () => this.#quiet()));
    }
    for (let typed = 1; typed <= keys; typed++) {
      await this.#quiet();
      const began = performance.now();
      const part = parts[typed % parts.length]!;
      await part.type();
      if (typed % keysPerCommand === 0) await part.run();
      if (typed % keysPerCensus === 0) this.#rooms.registry.census.take();
      if (performance.now() - began > slowMs && ++this.#slowSteps > slowStepsMax)
        throw new Error("the machine is busy");
    }
  }

  /** At once, where nobody else wants anything. A command that says nothing wants a processor. */
  async #quiet(): Promise<void> {
    const { commands } = this.#rooms.registry;
    for (let pulse = this.#pulse; !this.#isOver; pulse = this.#pulse) {
      if (pulse === this.#lastPulse && commands.runningCount === 0) break;
      this.#lastPulse = pulse;
      await Bun.sleep(quietMs);
    }
    if (this.#isOver) await this.#stopped.promise;
  }

  /** All that the daemon has heard and said so far. */
  get #pulse(): number {
    const { connectionsTotal, bytesIn, bytesOut } = this.#rooms.counters;
    return connectionsTotal + bytesIn + bytesOut;
  }
}
