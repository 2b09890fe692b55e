// Carries signals across `exec` to the next program. Blocking them is not enough: the mask holds for one thread, so
// another thread of the engine takes the signal, and what it records is lost with the memory. The process's alarm clock
// survives `exec`. So the C library's `alarm` is the handler meanwhile: it is called with the signal's number, and a
// running clock records that the signal came. For SIGTERM it runs 15 s, for SIGINT 2 s, for SIGHUP 1 s.
import { FFIType, ptr } from "bun:ffi";
import { constants } from "node:os";
import { openOnDemand } from "../c-library.ts";

const { i32, u32, u64, pointer } = FFIType;

const libc = openOnDemand({
  sigprocmask: { args: [i32, pointer, pointer], returns: i32 },
  sigpending: { args: [pointer], returns: i32 },
  sigaction: { args: [i32, pointer, pointer], returns: i32 },
  alarm: { args: [u32], returns: u32 },
  raise: { args: [i32], returns: i32 },
  signal: { args: [i32, u64], returns: u64 },
});

const SIG_BLOCK = 0;
const SIG_UNBLOCK = 1;
const SIG_DFL = 0;
const SIG_IGN = 1;
const { SIGTERM, SIGINT, SIGHUP, SIGALRM } = constants.signals;
/** SIGALRM as well: the clock may run out meanwhile, and the signal would end the process. */
const heldSignals = [SIGTERM, SIGINT, SIGHUP, SIGALRM];
const bit = (signal: number) => 1n << BigInt(signal - 1);

/** Memory for a sigset_t, of which only the first word is used, or a struct sigaction, which begins with the handler. */
const newStructure = () => new BigUint64Array(32);

function setBlocked(isBlocked: boolean): void {
  const set = newStructure();
  for (const signal of heldSignals) set[0] = set[0]! | bit(signal);
  libc().sigprocmask(isBlocked ? SIG_BLOCK : SIG_UNBLOCK, ptr(set), null);
}

/** Stops the clock and returns the signal that it stands for, also if it has run out (for SIGTERM it never has by then). */
function takeRecorded(): number | undefined {
  const leftS = libc().alarm(0);
  const pending = newStructure();
  libc().sigpending(ptr(pending));
  if (leftS > SIGINT) return SIGTERM;
  if (leftS === SIGINT) return SIGINT;
  return leftS > 0 || (pending[0]! & bit(SIGALRM)) !== 0n ? SIGHUP : undefined;
}

export interface BlockedSignals {
  /** Called right before `exec`: signals that came so far, and later ones, stay pending for the next program. */
  carryOver(): void;
  /** Restores the handlers and delivers the signals that came meanwhile. */
  [Symbol.dispose](): void;
}

/** Records signals from now on. Signals that came before are delivered in the next turn of the event loop. */
export function holdSignals(): BlockedSignals {
  const alarmHandler = BigInt((libc().alarm as unknown as { ptr: number }).ptr);
  const before = heldSignals.map((signal) => {
    const action = newStructure();
    libc().sigaction(signal, null, ptr(action));
    return { signal, action };
  });
  for (const { signal, action } of before) {
    if (action[0] === BigInt(SIG_IGN)) continue; // nohup
    const recording = action.slice();
    recording[0] = alarmHandler;
    libc().sigaction(signal, ptr(recording), null);
  }
  return {
    carryOver() {
      setBlocked(true);
      const recorded = takeRecorded();
      if (recorded) libc().raise(recorded); // pending for this thread, the one that survives exec
    },
    [Symbol.dispose]() {
      const recorded = takeRecorded();
      for (const { signal, action } of before) libc().sigaction(signal, ptr(action), null);
      setBlocked(false);
      if (recorded) libc().raise(recorded);
    },
  };
}

/** For a rollback to the previous program: signals stay pending across that `exec`, too. */
export const blockSignals = (): void => setBlocked(true);

/** In the next program: delivers the signals that came during the switch. */
export function unblockSignals(): void {
  const recorded = takeRecorded();
  libc().signal(SIGALRM, SIG_IGN); // discards a pending one
  libc().signal(SIGALRM, SIG_DFL);
  setBlocked(false);
  if (recorded) libc().raise(recorded);
}
