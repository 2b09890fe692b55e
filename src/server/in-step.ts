// Those who watch a terminal and have seen all of it stand at one place, and what is printed next goes to them in one
// go that looks at nothing of theirs but their sockets. Measured with 64 who watch, after a pause: each thing of a
// subscriber that is looked at is fetched from memory. Who cannot take a frame whole goes on by itself until it has
// caught up.
import { openSendRing, type SendRing, sendsMax } from "../core/process/send-ring-linux.ts";
import type { TerminalFollower } from "../core/pty/audience.ts";
import type { Terminal } from "../core/pty/terminal.ts";
import type { OutputLane } from "./lane.ts";
import { outputFrame, type TerminalDialect } from "./terminal-frames.ts";

export interface Stepper {
  readonly lane: OutputLane;
  /** It leaves, and goes on by itself. */
  fallOut(): void;
}

interface HeldUp {
  stepper: Stepper;
  /** So much it has taken of the frame. */
  written: number;
}

/** For fewer, or for more bytes, a call for each is as good. */
const manyMin = 4;
const shortFrameBytesMax = 4096;
const noSocket = -1;

let ring: SendRing | undefined;
let isRingOpened = false;

/** One for all, when it is first needed. */
function sendRing(): SendRing | undefined {
  if (!isRingOpened) ring = openSendRing();
  isRingOpened = true;
  return ring?.isBroken ? undefined : ring;
}

const groups = new WeakMap<Terminal, Map<TerminalDialect, InStep>>();

export function inStepOf(terminal: Terminal, dialect: TerminalDialect): InStep {
  const ofTerminal = groups.get(terminal) ?? new Map<TerminalDialect, InStep>();
  groups.set(terminal, ofTerminal);
  const group = ofTerminal.get(dialect) ?? new InStep(terminal, dialect);
  ofTerminal.set(dialect, group);
  return group;
}

export class InStep implements TerminalFollower {
  readonly #steppers: Stepper[] = [];
  /** Of the same. */
  readonly #fds: number[] = [];
  #hasOnlySockets = true;
  #cursor = 0;
  /** While a frame is being written. */
  #isWriting = false;
  #leavers: Stepper[] = [];

  constructor(
    readonly terminal: Terminal,
    readonly dialect: TerminalDialect,
  ) {}

  /** Only who has seen everything. False while others are being told. */
  join(stepper: Stepper): boolean {
    if (this.#isWriting) return false;
    this.printed(); // it may have heard of it before us
    if (this.#steppers.length === 0) {
      this.#cursor = this.terminal.ring.end;
      this.terminal.audience.follow(this);
    }
    this.#steppers.push(stepper);
    this.#fds.push(stepper.lane.wire.fd ?? noSocket);
    this.#hasOnlySockets = !this.#fds.includes(noSocket);
    return true;
  }

  /** Where it goes on by itself. */
  leave(stepper: Stepper): number {
    // What is being written goes to it all the same.
    if (this.#isWriting) this.#leavers.push(stepper);
    else this.#remove(stepper);
    return this.#cursor;
  }

  #remove(stepper: Stepper): void {
    const at = this.#steppers.indexOf(stepper);
    this.#steppers.splice(at, 1);
    this.#fds.splice(at, 1);
    this.#hasOnlySockets = !this.#fds.includes(noSocket);
    if (this.#steppers.length === 0) this.terminal.audience.unfollow(this);
  }

  printed(): void {
    const { terminal, dialect } = this;
    const { ring } = terminal;
    while (this.#cursor < ring.end && this.#steppers.length > 0) {
      if (this.#cursor < ring.start) {
        this.#scatter();
        break;
      }
      const { frame, end } = outputFrame(terminal, dialect, this.#cursor, ring.end);
      this.#cursor = end;
      this.#isWriting = true;
      const heldUp = this.#write(frame);
      this.#isWriting = false;
      for (const leaver of this.#leavers.splice(0)) this.#remove(leaver);
      for (const lane of heldUp) lane.retry(); // it is not among us any more
    }
  }

  /** Those who must be tried again. */
  #write(frame: Uint8Array): OutputLane[] {
    const isMany = this.#steppers.length >= manyMin && frame.length <= shortFrameBytesMax;
    const many = isMany && this.#hasOnlySockets ? sendRing() : undefined;
    const heldUp = many ? this.#writeToMany(many, frame) : this.#writeToEach(frame);
    let bytes = this.#steppers.length * frame.length;
    for (const { stepper, written } of heldUp) {
      bytes -= frame.length - written;
      stepper.fallOut();
      stepper.lane.heldUp(frame, written);
    }
    this.#steppers[0]!.lane.counters.bytesOut += bytes;
    // A wire says when it takes the rest; a socket that was written to without it does not.
    return many ? heldUp.map(({ stepper }) => stepper.lane) : [];
  }

  #writeToEach(frame: Uint8Array): HeldUp[] {
    const heldUp: HeldUp[] = [];
    for (const stepper of this.#steppers) {
      const written = Math.max(0, stepper.lane.wire.write(frame));
      if (written < frame.length) heldUp.push({ stepper, written });
    }
    return heldUp;
  }

  #writeToMany(many: SendRing, frame: Uint8Array): HeldUp[] {
    const heldUp: HeldUp[] = [];
    for (let first = 0; first < this.#steppers.length; first += sendsMax) {
      const count = Math.min(sendsMax, this.#steppers.length - first);
      many.send(this.#fds, first, count, frame);
      for (let i = 0; i < count; i++) {
        const written = Math.max(0, many.taken[i]!);
        if (written < frame.length) heldUp.push({ stepper: this.#steppers[first + i]!, written });
      }
    }
    return heldUp;
  }

  /** What comes next is gone already: they are told of the gap, each by itself. */
  #scatter(): void {
    for (const stepper of [...this.#steppers]) stepper.fallOut();
  }
}
