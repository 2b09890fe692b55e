// Stops the reading of a terminal's output: the program then waits as at any full pipe, and no byte is lost. Bun cannot be
// told to, but it asks the kernel to be woken for one event at a time (EPOLLONESHOT); that wish is taken back, as it is
// after each event, and made again later.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { changeEpoll } from "../process/libc.ts";
import type { OutputValve } from "./flow.ts";
import { masterNumber, terminalNumberOf } from "./flow-linux.ts";

const EPOLLIN = 1;
const EPOLLONESHOT = 0x4000_0000;

interface Wish {
  epollFd: number;
  fd: number;
  events: number;
  data: bigint;
}

/**
 * Undefined where the process has no terminal (any more); `fallback` does it where nobody in this process waits for the
 * output in that way. To be disposed of before the terminal is closed.
 */
export function readPauseOf(pid: number, fallback: () => OutputValve | undefined): OutputValve | undefined {
  const number = terminalNumberOf(pid);
  return number === undefined ? undefined : new ReadPause(number, fallback);
}

class ReadPause implements OutputValve {
  #wish: Wish | undefined;
  #other: OutputValve | undefined;
  #soon: Timer | NodeJS.Immediate | undefined;
  #isClosed = false;

  constructor(
    readonly number: number,
    readonly fallback: () => OutputValve | undefined,
  ) {}

  /** Not at once: who is being told of output has no wish just now, and makes it anew afterwards. */
  close(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      this.#close();
    });
  }

  #close(): void {
    this.#isClosed = true;
    this.#wish ??= findWish(this.number);
    if (!this.#wish) this.#other ??= this.fallback();
    if (!this.#set(EPOLLONESHOT)) this.#other?.close();
  }

  open(): void {
    clearImmediate(this.#soon as NodeJS.Immediate);
    this.#soon = undefined;
    if (!this.#isClosed) return;
    this.#isClosed = false;
    if (!this.#set(this.#wish?.events ?? 0)) this.#other?.open();
  }

  dispose(): void {
    this.open();
    this.#other?.dispose();
  }

  /** The descriptor may be closed by now, and its number somebody else's. */
  #set(events: number): boolean {
    if (!this.#wish || masterNumber(this.#wish.fd) !== this.number) return false;
    return changeEpoll(this.#wish.epollFd, this.#wish.fd, events, this.#wish.data);
  }
}

function findWish(number: number): Wish | undefined {
  for (const name of readdirSync("/proc/self/fd")) {
    if (!isEventQueue(name)) continue;
    const text = readFileSync(`/proc/self/fdinfo/${name}`, "latin1");
    for (const [, fd, events, data] of text.matchAll(
      /^tfd:\s+(\d+) events:\s+([0-9a-f]+) data:\s+([0-9a-f]+)/gm,
    )) {
      const wish = {
        epollFd: Number(name),
        fd: Number(fd),
        events: Number.parseInt(events!, 16),
        data: BigInt(`0x${data}`),
      };
      const isForOutput = (wish.events & EPOLLIN) !== 0 && (wish.events & EPOLLONESHOT) !== 0;
      if (isForOutput && masterNumber(wish.fd) === number) return wish;
    }
  }
  return undefined;
}

function isEventQueue(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === "anon_inode:[eventpoll]";
  } catch {
    return false; // that by which the directory was read
  }
}
