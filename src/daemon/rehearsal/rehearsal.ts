// A daemon that has just begun does for a moment what it will be asked to do: keys at a terminal, builtins in a session.
// The engine compiles a function when it has been called some dozens of times, and again, better, after hundreds and
// thousands. Until then everything is slower, and what is compiled meanwhile takes a processor from whoever waits: the
// first thousand keys would have echoes of milliseconds among them. Whoever asks for something comes first.
import { forgetLateness } from "../../core/process/short-wait.ts";
import { forgetTyping } from "../../core/pty/typing.ts";
import { descriptorLimit, memoryLimit, openDescriptors } from "../../core/resources.ts";
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
const lastsMaxMs = 20_000;

/** It takes some fifty descriptors for a moment, and 15 MB for good. */
const descriptorsMin = 256;
const memoryMinMb = 256;

/** Where little is allowed, all of it is for those who ask. */
function hasRoom({ fdWarningThreshold, memoryPressureMb }: DaemonOptions): boolean {
  const descriptors = Math.min(fdWarningThreshold || Number.POSITIVE_INFINITY, descriptorLimit());
  const memoryMb = Math.min(memoryPressureMb || Number.POSITIVE_INFINITY, memoryLimit() / 1024 / 1024);
  return descriptors - openDescriptors() >= descriptorsMin && memoryMb >= memoryMinMb;
}

export class Rehearsal {
  /** Nothing of it is left. */
  readonly ended: Promise<void>;
  readonly #rooms: Rooms;
  readonly #stopped = Promise.withResolvers<void>();
  #isOver = false;
  #lastPulse = 0;

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
    this.ended = this.#run();
  }

  async end(): Promise<void> {
    this.#stop();
    await this.ended;
  }

  #stop(): void {
    this.#isOver = true;
    this.#stopped.resolve();
  }

  async #run(): Promise<void> {
    const { log } = this.#rooms;
    const timer = setTimeout(() => this.#stop(), lastsMaxMs);
    const stages: Stage[] = [];
    try {
      await Promise.race([Bun.sleep(beginAfterMs), this.#stopped.promise]);
      if (this.#isOver || !hasRoom(this.#rooms.options)) return;
      const began = performance.now();
      for (const name of stageNames) stages.push(new Stage(this.#rooms, name));
      await Promise.race([this.#play(stages), this.#stopped.promise]);
      if (!this.#isOver) log.debug("rehearsed", { ms: Math.round(performance.now() - began) });
    } catch (error) {
      // No bash, no room for terminals or files: the daemon begins as it is.
      log.debug("not rehearsed", { cause: (error as Error).message });
    } finally {
      this.#stop();
      clearTimeout(timer);
      await Promise.all(stages.map((stage) => stage.close()));
      if (stages.length > 0) this.#leaveNoTrace();
    }
  }

  async #play(stages: readonly Stage[]): Promise<void> {
    const parts: Part[] = [];
    for (const stage of stages) {
      await this.#quiet();
      parts.push(await Part.on(stage));
    }
    for (let typed = 1; typed <= keys; typed++) {
      await this.#quiet();
      if (this.#isOver) return;
      const part = parts[typed % parts.length]!;
      await part.type();
      if (typed % keysPerCommand === 0) await part.run();
      if (typed % keysPerCensus === 0) this.#rooms.registry.census.take();
    }
  }

  /** At once, where nobody else wants anything. */
  async #quiet(): Promise<void> {
    for (let pulse = this.#pulse; pulse !== this.#lastPulse && !this.#isOver; pulse = this.#pulse) {
      this.#lastPulse = pulse;
      await Bun.sleep(quietMs);
    }
  }

  /** All that the daemon has heard and said so far. */
  get #pulse(): number {
    const { connectionsTotal, bytesIn, bytesOut } = this.#rooms.counters;
    return connectionsTotal + bytesIn + bytesOut;
  }

  /** Nobody has typed, and that the engine wanted a processor says nothing of the machine. */
  #leaveNoTrace(): void {
    forgetTyping();
    forgetLateness();
  }
}
