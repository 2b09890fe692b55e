// One who follows the output of a command or a terminal, and compares every byte with what it must be.
import type { Frame } from "../support/wire.ts";
import type { Expected, KnownCommand } from "./outputs.ts";

/** How it ended for this follower; `gone` where its connection is. */
export type FollowedEnd = { how: "exit" | "lagged"; frame: Frame } | { how: "gone" | "left" };

export interface RemoteSubscription {
  /** What is wrong with the frame, if anything. */
  take(frame: Frame): string | undefined;
  gone(): void;
}

abstract class Follower implements RemoteSubscription {
  /** Bytes that were compared. */
  bytes = 0;
  readonly end: Promise<FollowedEnd>;
  protected settle: (end: FollowedEnd) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<FollowedEnd>();
    this.end = promise;
    this.settle = resolve;
  }

  abstract take(frame: Frame): string | undefined;

  gone(): void {
    this.settle({ how: "gone" });
  }

  /** It has asked for no more. */
  leave(): void {
    this.settle({ how: "left" });
  }

  protected compare(expected: Expected, offset: number, data: Uint8Array): string | undefined {
    this.bytes += data.length;
    return expected.matches(offset, data) ? undefined : `other bytes than expected at ${offset}`;
  }
}

export class StreamFollower extends Follower {
  onProgress: (() => void) | undefined;

  constructor(
    readonly known: KnownCommand,
    /** Where it goes on. */
    readonly next: { stdout: number; stderr: number } = { stdout: 0, stderr: 0 },
    readonly encoding: "utf8" | "base64" = "utf8",
  ) {
    super();
  }

  take(frame: Frame): string | undefined {
    const { type } = frame;
    if (type === "stdout" || type === "stderr") return this.#output(type, frame);
    if (type === "exit" || type === "lagged") {
      this.settle({ how: type, frame });
      return undefined;
    }
    return `an unexpected frame: ${JSON.stringify(frame)}`;
  }

  #output(type: "stdout" | "stderr", { data, offset }: Frame): string | undefined {
    if (offset !== this.next[type]) return `${type} at ${offset} instead of ${this.next[type]}`;
    const bytes = Buffer.from(data, this.encoding);
    this.next[type] += bytes.length;
    const wrong = this.compare(this.known[type], offset, bytes);
    this.onProgress?.();
    // A shell may say of which signal its child has died.
    return type === "stderr" && bytes.includes("Terminated") ? undefined : wrong;
  }

  /** Whether the end fits what came, and the command. */
  check(exit: Frame, mayBeInterrupted: boolean): string | undefined {
    for (const name of ["stdout", "stderr"] as const)
      if (exit[`${name}_bytes`] !== this.next[name])
        return `${name}: ${this.next[name]} bytes came of ${exit[`${name}_bytes`]}`;
    return wrongEnd(this.known, exit, mayBeInterrupted);
  }
}

/** Of a terminal, from its first byte on. */
export class OutputSubscriber extends Follower {
  constructor(
    readonly expected: Expected,
    public next = 0,
  ) {
    super();
  }

  take(frame: Frame): string | undefined {
    const { type, data, offset } = frame;
    if (type === "resize") return undefined;
    if (type === "exit") {
      this.settle({ how: "exit", frame });
      return offset === this.next ? undefined : `the end is at ${offset}, but ${this.next} bytes came`;
    }
    if (type !== "output" || frame["redraw"]) return `an unexpected frame: ${JSON.stringify(frame)}`;
    if (offset !== this.next) return `output at ${offset} instead of ${this.next}`;
    const bytes = Buffer.from(data, "base64");
    this.next += bytes.length;
    return this.compare(this.expected, offset, bytes);
  }
}

/** One whose frames are only counted, such as a stranger's. */
export class Onlooker implements RemoteSubscription {
  take(): undefined {}
  gone(): void {}
}

/** How a command has ended, where it may have been stopped and where it may not. */
export function wrongEnd(known: KnownCommand, end: Frame, mayBeInterrupted: boolean): string | undefined {
  const { reason, exit_code, stdout_bytes, stderr_bytes } = end;
  if (mayBeInterrupted && /^(?:cancelled|timeout|\w+_limit)$/.test(reason)) return undefined;
  if (reason !== "exit" && reason !== "signal") return `reason ${reason}`;
  if (exit_code !== known.exitCode) return `exit code ${exit_code} instead of ${known.exitCode}`;
  if (stdout_bytes !== known.stdout.length)
    return `${stdout_bytes} bytes of ${known.stdout.length} on stdout`;
  if (stderr_bytes !== known.stderr.length && known.exitCode < 128)
    return `${stderr_bytes} bytes of ${known.stderr.length} on stderr`;
  return undefined;
}
