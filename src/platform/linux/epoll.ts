// Linux's epoll: sets of trl's own, and registrations in Bun's.
import { FFIType, ptr } from "bun:ffi";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { openOnDemand } from "../c-library.ts";

const { i32, pointer } = FFIType;
const libc = openOnDemand({
  epoll_create1: { args: [i32], returns: i32 },
  epoll_ctl: { args: [i32, i32, i32, pointer], returns: i32 },
  epoll_wait: { args: [i32, pointer, i32, i32], returns: i32 },
});

export const EPOLLIN = 1;
export const EPOLLHUP = 0x10;

const operations = { add: 1, delete: 2, modify: 3 };
const O_CLOEXEC = 0o2000000;
/** struct epoll_event is packed on x86 only. */
const dataOffset = process.arch === "x64" ? 4 : 8;
const event = new DataView(new ArrayBuffer(16));

/** How an epoll set watches a descriptor. */
export interface Registration {
  epollFd: number;
  events: number;
  data: bigint;
}

/** Undefined if no descriptors are free. */
export function createEpoll(): number | undefined {
  const fd = libc().epoll_create1(O_CLOEXEC);
  return fd < 0 ? undefined : fd;
}

/** False if the kernel refuses it. */
export function controlEpoll(
  { epollFd, events, data }: Registration,
  operation: keyof typeof operations,
  fd: number,
): boolean {
  event.setUint32(0, events, true);
  event.setBigUint64(dataOffset, data, true);
  return libc().epoll_ctl(epollFd, operations[operation], fd, ptr(event)) === 0;
}

/** One pending event of the set, with the lower half of its data; undefined if there is none. */
export function nextEvent(epollFd: number): { events: number; data: number } | undefined {
  if (libc().epoll_wait(epollFd, ptr(event), 1, 0) !== 1) return undefined;
  return { events: event.getUint32(0, true), data: event.getUint32(dataOffset, true) };
}

/** How an event loop of this process watches the descriptor; undefined if none does, or /proc does not show it (gVisor). */
export function registrationOf(fd: number): Registration | undefined {
  try {
    return findRegistration(fd);
  } catch {
    return undefined; // there is no /proc, or no descriptor is free
  }
}

function findRegistration(fd: number): Registration | undefined {
  for (const epollFd of readdirSync("/proc/self/fd").map(Number).filter(isEpoll)) {
    for (const line of readFileSync(`/proc/self/fdinfo/${epollFd}`, "latin1").split("\n")) {
      const [, target, events, data] = /^tfd:\s*(\d+)\s+events:\s*(\w+)\s+data:\s*(\w+)/.exec(line) ?? [];
      if (Number(target) === fd)
        return { epollFd, events: Number.parseInt(events!, 16), data: BigInt(`0x${data}`) };
    }
  }
  return undefined;
}

function isEpoll(fd: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === "anon_inode:[eventpoll]";
  } catch {
    return false; // the descriptor of the listing itself
  }
}
