// The same few bytes to many sockets, by one system call (io_uring). With one call for each, whoever is woken by it
// interrupts us before the next one: measured with 64 of them a third of the time until the last has it. Every send is
// done, or refused, before the call returns: nothing is under way afterwards, and the kernel looks at the shared
// memory only while we call it.
import { FFIType, type Pointer, ptr, toArrayBuffer } from "bun:ffi";
import { openLibrary } from "./c-library.ts";

const { i32, i64, i64_fast, u64 } = FFIType;
const SYS_io_uring_setup = 425;
const SYS_io_uring_enter = 426;
const IORING_FEAT_SINGLE_MMAP = 1;
const IORING_OFF_SQES = 0x10000000;
const IORING_ENTER_GETEVENTS = 1;
const IORING_OP_SEND = 26;
const PROT_READ_WRITE = 3;
const MAP_SHARED_POPULATE = 0x8001;
const MSG_DONTWAIT_NOSIGNAL = 0x4040;
const EINVAL = 22;

/** At a time; the kernel keeps room for twice as many answers. */
export const sendsMax = 64;
/** In words of four bytes: io_uring_sqe, io_uring_cqe and io_uring_params. */
const sendWords = 16;
const answerWords = 4;
const paramsWords = 30;

/** Where in the shared memory things are, in words. */
interface Places {
  tail: number;
  answersHead: number;
  answersTail: number;
  answers: number;
}

type Call = (number: number, ...args: [number, number, number, number, number, number]) => number;

/** Undefined where the kernel has none, or where it is forbidden, as in many containers. */
export function openSendRing(): SendRing | undefined {
  if (process.platform !== "linux") return undefined;
  const libc = openLibrary({
    syscall: { args: [i64, u64, u64, u64, u64, u64, u64], returns: i64_fast },
    mmap: { args: [u64, u64, i32, i32, i32, i64], returns: i64_fast },
    close: { args: [i32], returns: i32 },
  });
  const call = libc.syscall as Call;
  const params = new Uint32Array(paramsWords);
  const fd = call(SYS_io_uring_setup, sendsMax, ptr(params), 0, 0, 0, 0);
  if (fd < 0) return undefined;
  const inWords = (from: number) => Array.from(params.subarray(from, from + 7), (bytes) => bytes / 4);
  const [, tail, , , , , order] = inWords(10) as [number, number, 0, 0, 0, 0, number];
  const [answersHead, answersTail, , , , answers] = inWords(20) as [number, number, 0, 0, 0, number];
  const [sendCount, answerCount] = [params[0]!, params[1]!];
  const map = (words: number, offset: number) => {
    const at = Number(libc.mmap(0, words * 4, PROT_READ_WRITE, MAP_SHARED_POPULATE, fd, offset));
    return at > 0 ? new Int32Array(toArrayBuffer(at as Pointer, 0, words * 4)) : undefined;
  };
  const isKnown = (params[5]! & IORING_FEAT_SINGLE_MMAP) !== 0 && sendCount === sendsMax;
  const shared = isKnown
    ? map(Math.max(order + sendCount, answers + answerCount * answerWords), 0)
    : undefined;
  const sends = shared && map(sendCount * sendWords, IORING_OFF_SQES);
  if (!shared || !sends) {
    libc.close(fd);
    return undefined;
  }
  for (let i = 0; i < sendCount; i++) shared[order + i] = i;
  return new SendRing(call, fd, shared, sends, { tail, answersHead, answersTail, answers });
}

export class SendRing {
  /** How many bytes each of those last sent to has taken; negative where it was none. */
  readonly taken = new Int32Array(sendsMax);
  isBroken = false;
  readonly #call: Call;
  readonly #fd: number;
  readonly #shared: Int32Array;
  readonly #sends: Int32Array;
  readonly #at: Places;

  constructor(call: Call, fd: number, shared: Int32Array, sends: Int32Array, at: Places) {
    this.#call = call;
    this.#fd = fd;
    this.#shared = shared;
    this.#sends = sends;
    this.#at = at;
  }

  /** To so many of them from `first` on. What was not taken, for whatever reason, is the caller's to send otherwise. */
  send(fds: readonly number[], first: number, count: number, bytes: Uint8Array): void {
    this.taken.fill(-1, 0, count);
    this.#fill(fds, first, count, bytes);
    const begun = this.#call(SYS_io_uring_enter, this.#fd, count, 0, 0, 0, 0);
    const missing = begun - this.#readAnswers();
    if (begun === count && missing === 0) return;
    // What it has not looked at it must not find there the next time, and what it has begun must be over.
    this.isBroken = true;
    if (missing > 0) this.#call(SYS_io_uring_enter, this.#fd, 0, missing, IORING_ENTER_GETEVENTS, 0, 0);
    this.#readAnswers();
  }

  #fill(fds: readonly number[], first: number, count: number, bytes: Uint8Array): void {
    const sends = this.#sends;
    const { tail } = this.#at;
    const begin = this.#shared[tail]!;
    const address = ptr(bytes);
    const high = Math.floor(address / 2 ** 32);
    const { length } = bytes;
    for (let i = 0; i < count; i++) {
      const at = ((begin + i) & (sendsMax - 1)) * sendWords;
      sends[at] = IORING_OP_SEND;
      sends[at + 1] = fds[first + i]!;
      sends[at + 4] = address;
      sends[at + 5] = high;
      sends[at + 6] = length;
      sends[at + 7] = MSG_DONTWAIT_NOSIGNAL;
      sends[at + 8] = i;
    }
    this.#shared[tail] = begin + count;
  }

  /** How many there were. */
  #readAnswers(): number {
    const shared = this.#shared;
    const { answersHead, answersTail, answers } = this.#at;
    const begin = shared[answersHead]!;
    const end = shared[answersTail]!;
    for (let i = begin; i !== end; i = (i + 1) | 0) {
      const at = answers + (i & (2 * sendsMax - 1)) * answerWords;
      const taken = shared[at + 2]!;
      this.taken[shared[at]!] = taken;
      if (taken === -EINVAL) this.isBroken = true; // it does not know how to send
    }
    shared[answersHead] = end;
    return (end - begin) | 0;
  }
}
