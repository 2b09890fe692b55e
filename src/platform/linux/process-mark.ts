// The inherited mark on Linux: the soft limit of file locks (RLIMIT_LOCKS). The kernel keeps it for each process, shows it
// to every user, and has not enforced it since 2.4.25, so the mark limits nothing and nothing else uses it. A process
// loses it only by setting that limit itself.
import type { ProcessMark } from "../process-mark.ts";
import { ownLimit, type ResourceLimit, setOwnLimit } from "./libc.ts";

const RLIMIT_LOCKS = 10;
const unlimited = 0xffff_ffff_ffff_ffffn;

export class LinuxProcessMark implements ProcessMark {
  readonly #own: ResourceLimit;

  private constructor(own: ResourceLimit) {
    this.#own = own;
  }

  /** Undefined if the hard limit is lower than "unlimited": a mark may be any number. */
  static detect(): LinuxProcessMark | undefined {
    const own = ownLimit(RLIMIT_LOCKS);
    return own?.hard === unlimited ? new LinuxProcessMark(own) : undefined;
  }

  start<T>(mark: bigint, start: () => T): T {
    setOwnLimit(RLIMIT_LOCKS, { soft: mark, hard: this.#own.hard });
    try {
      return start();
    } finally {
      setOwnLimit(RLIMIT_LOCKS, this.#own);
    }
  }

  isUnmarked(mark: bigint | undefined): boolean {
    return (mark ?? unlimited) === this.#own.soft; // the kernel shows "unlimited" as a word, which is no mark
  }
}
