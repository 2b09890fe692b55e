// Reads a terminal's output in Bun's place, while it floods. Bun reads as much as it can get, and asks the kernel between
// two reads whether there is more: that question waits for a thread of the kernel to hand over the next 4 KB, and the
// whole daemon with it, for milliseconds where the cores are busy. Asked in another way (FIONREAD) the kernel tells what
// is there and waits for nobody. Meanwhile Bun is not told of output: it asks to be woken for one event at a time
// (EPOLLONESHOT), and that wish is taken back, as it is after each event, and made again later.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { longestPatienceMs } from "../limits.ts";
import { changeEpoll, readInto } from "../process/libc.ts";
import { hasOutput, masterNumber, terminalNumberOf } from "./flow-linux.ts";

const EPOLLIN = 1;
const EPOLLONESHOT = 0x4000_0000;

interface Wish {
  epollFd: number;
  fd: number;
  events: number;
  data: bigint;
}

/** Undefined where the process has no terminal (any more), or nobody in this process waits for its output in that way. */
export function ownReadingOf(pid: number): OwnReading | undefined {
  const number = terminalNumberOf(pid);
  const wish = number === undefined ? undefined : findWish(number);
  return wish && new OwnReading(number!, wish);
}

export class OwnReading {
  #isTaken = false;

  constructor(
    readonly number: number,
    readonly wish: Wish,
  ) {}

  /** Not while Bun tells of output: it has no wish just then, and makes it anew afterwards. False where it is too late. */
  take(): boolean {
    this.#isTaken = this.#set(EPOLLONESHOT);
    return this.#isTaken;
  }

  /** To be called before the terminal is closed. */
  giveBack(): void {
    if (this.#isTaken) this.#set(this.wish.events);
    this.#isTaken = false;
  }

  /**
   * How much was read into the memory: what is there, and what comes within so many milliseconds after the last of it.
   * Who prints byte by byte is not waited for until the memory is full: nobody else is served meanwhile.
   */
  read(memory: Uint8Array, patienceMs: number): number {
    const { fd } = this.wish;
    if (!this.#isTaken || masterNumber(fd) !== this.number) return 0;
    let length = 0;
    const deadline = performance.now() + longestPatienceMs;
    for (let heardAt = performance.now(); length < memory.length; ) {
      if (hasOutput(fd)) {
        const bytes = readInto(fd, memory, length);
        if (bytes <= 0) break;
        length += bytes;
        heardAt = performance.now();
      } else if (performance.now() >= Math.min(heardAt + patienceMs, deadline)) break;
    }
    return length;
  }

  /** The descriptor may be closed by now, and its number somebody else's. */
  #set(events: number): boolean {
    const { epollFd, fd, data } = this.wish;
    return masterNumber(fd) === this.number && changeEpoll(epollFd, fd, events, data);
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
