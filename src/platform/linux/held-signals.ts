// Signals that come while a process becomes another program are heard by the one that comes. To block them is not enough:
// that holds for one thread, another of the engine's takes the signal, and what it notes is lost with its memory. What
// outlives all of it is the process's alarm clock. So the C library's own `alarm` is the handler meanwhile: it is called
// with the signal's number, and a clock that runs says that one has come. For SIGTERM it runs 15 s, SIGINT 2, SIGHUP 1.
import { FFIType, ptr } from "bun:ffi";
import { constants } from "node:os";
import { openLibrary } from "../c-library.ts";

const { i32, u32, u64, pointer } = FFIType;

const open = () =>
  openLibrary({
    sigprocmask: { args: [i32, pointer, pointer], returns: i32 },
    sigpending: { args: [pointer], returns: i32 },
    sigaction: { args: [i32, pointer, pointer], returns: i32 },
    alarm: { args: [u32], returns: u32 },
    raise: { args: [i32], returns: i32 },
    signal: { args: [i32, u64], returns: u64 },
  });
let library: ReturnType<typeof open> | undefined;
const libc = () => {
  library ??= open();
  return library;
};

const SIG_BLOCK = 0;
const SIG_UNBLOCK = 1;
const SIG_DFL = 0;
const SIG_IGN = 1;
const { SIGTERM, SIGINT, SIGHUP, SIGALRM } = constants.signals;
/** Nobody hears them between two programs; the clock's own may come meanwhile, and would end the process. */
const held = [SIGTERM, SIGINT, SIGHUP, SIGALRM];
const bit = (signal: number) => 1n << BigInt(signal - 1);

/** sigset_t, of which the first word is used; struct sigaction begins with the handler and is no longer than this. */
const longs = () => new BigUint64Array(32);

function block(isBlocked: boolean): void {
  const set = longs();
  for (const signal of held) set[0] = set[0]! | bit(signal);
  libc().sigprocmask(isBlocked ? SIG_BLOCK : SIG_UNBLOCK, ptr(set), null);
}

/** The signal that the clock stands for, if it runs or has run out (a clock for SIGTERM never has by then); it is stopped. */
function takeNoted(): number | undefined {
  const leftS = libc().alarm(0);
  const pending = longs();
  libc().sigpending(ptr(pending));
  if (leftS > SIGINT) return SIGTERM;
  if (leftS === SIGINT) return SIGINT;
  return leftS > 0 || (pending[0]! & bit(SIGALRM)) !== 0n ? SIGHUP : undefined;
}

export interface BlockedSignals {
  /** Just before the other program: what has come so far waits for it, and so does what comes from here on. */
  carryOver(): void;
  /** As it was before, and what has come meanwhile is heard. */
  [Symbol.dispose](): void;
}

/** From here on they are noted. What has come before is heard in the next turn of the event loop. */
export function holdSignals(): BlockedSignals {
  const handler = BigInt((libc().alarm as unknown as { ptr: number }).ptr);
  const before = held.map((signal) => {
    const action = longs();
    libc().sigaction(signal, null, ptr(action));
    return { signal, action };
  });
  for (const { signal, action } of before) {
    if (action[0] === BigInt(SIG_IGN)) continue; // nohup
    const noting = action.slice();
    noting[0] = handler;
    libc().sigaction(signal, ptr(noting), null);
  }
  return {
    carryOver() {
      block(true);
      const noted = takeNoted();
      if (noted) libc().raise(noted); // it is pending for this thread, which is the one that goes on
    },
    [Symbol.dispose]() {
      const noted = takeNoted();
      for (const { signal, action } of before) libc().sigaction(signal, ptr(action), null);
      block(false);
      if (noted) libc().raise(noted);
    },
  };
}

/** In a program that goes back to the one before: no thread of it has heard them yet. */
export const keepHolding = (): void => block(true);

/** Those that came while nobody could hear them are heard now. */
export function unblockSignals(): void {
  const noted = takeNoted();
  libc().signal(SIGALRM, SIG_IGN); // takes back one that is pending
  libc().signal(SIGALRM, SIG_DFL);
  block(false);
  if (noted) libc().raise(noted);
}
