// One client that follows one command: reads from the command's output as fast as the client takes it, and no
// faster. A client that takes nothing for a while is let go, so that it does not hold the command for ever.
import type { KnownCommand } from "../core/command/command.ts";
import { type Offsets, type OutputReader, type StreamName, streamNames } from "../core/command/output.ts";
import { type Encoding, type ExitFrame, isTimeout } from "../protocol/exec.ts";
import { encodeFrame } from "../protocol/frame.ts";
import type { ByteEncoder } from "../util/byte-encoder.ts";
import { AttachmentWindow } from "./attachment-window.ts";
import { base64FrameBytesMax, frameBytesMax } from "./limits.ts";
import type { OutgoingQueue, QueueSubscriber } from "./outgoing-queue.ts";
import { hold, holdForNext, leave, releaseForNext, takeOver } from "./resume-points.ts";
import { gapFrame, outputFrame } from "./stream-frames.ts";

export interface AttachmentSpec {
  command: KnownCommand;
  from: Offsets;
  encoding: Encoding;
  encoder: ByteEncoder;
  lane: OutgoingQueue;
  stallTimeoutS: number;
  /** Where the client says how much it has taken. */
  windowBytes: number | undefined;
  /** Where it may come back after its connection broke: what it has not taken is kept for it. */
  resumeKey: string | undefined;
  onEnd(): void;
}

export class Attachment implements QueueSubscriber {
  readonly #spec: AttachmentSpec;
  readonly #reader: OutputReader;
  #stallTimer: Timer | undefined;
  readonly #window: AttachmentWindow | undefined;
  /** Stands where the client has said that it has come, while the reader runs ahead. */
  #place: OutputReader | undefined;
  readonly #turns: StreamName[] = ["stderr", "stdout"];
  #isBusy = false;
  #isStarted = false;
  #isOver = false;

  /** From here on the command waits for this client; nothing is sent before `start`. */
  constructor(spec: AttachmentSpec) {
    this.#spec = spec;
    const { output } = spec.command;
    if (spec.windowBytes !== undefined) {
      // What is kept for somebody must leave room for what comes.
      const roomBytes = Math.floor(Math.min(output.stdout.ringBytes, output.stderr.ringBytes) / 2);
      const hasKey = spec.resumeKey !== undefined;
      const bytes = hasKey ? Math.min(spec.windowBytes, roomBytes) : spec.windowBytes;
      this.#window = new AttachmentWindow(bytes, spec.from);
      if (hasKey || bytes <= roomBytes) this.#place = output.openReader({ ...spec.from }, () => {});
    }
    this.#reader = output.openReader(spec.from, () => this.#advance());
    releaseForNext(spec.command, spec.from);
    if (spec.resumeKey !== undefined) takeOver(spec.command, spec.resumeKey, this);
    spec.lane.attach(this);
  }

  start(): void {
    this.#isStarted = true;
    this.#advance();
  }

  roomMade(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    this.#advance();
  }

  cutOff(): void {
    const { command, resumeKey } = this.#spec;
    if (this.#isOver || resumeKey !== undefined) return; // one with a key keeps its place by that
    holdForNext(command, this.#window?.taken ?? onItsWay(this.#reader.offsets));
  }

  closed(): void {
    const { command, resumeKey, stallTimeoutS } = this.#spec;
    if (this.#place && resumeKey !== undefined && !this.#isOver) {
      hold(command, resumeKey, this.#place, stallTimeoutS);
      this.#place = undefined;
    }
    this.end();
  }

  /** The client has taken everything before these offsets. */
  acknowledge(taken: Partial<Offsets>): void {
    this.#window?.take(taken, this.#reader.offsets);
    if (this.#window && this.#place)
      for (const name of streamNames) this.#place.moveTo(name, this.#window.taken[name]);
    this.roomMade();
  }

  /** Sends one frame, and the next one in another turn: other clients and requests come in between. */
  #advance(): void {
    if (!this.#isStarted || this.#isOver || this.#isBusy) return;
    if (!this.#spec.lane.hasRoom || this.#roomInWindow <= 0) {
      this.#watchForStall();
      return;
    }
    this.#isBusy = this.#sendNext(); // until the next turn
    if (this.#isBusy) setImmediate(() => this.#resume());
  }

  /** It has closed its side for good, and wants the rest. One with a key may just be losing its connection. */
  get #isSilent(): boolean {
    const { lane, resumeKey } = this.#spec;
    return lane.isDeaf && resumeKey === undefined;
  }

  get #roomInWindow(): number {
    if (!this.#window || this.#isSilent) return frameBytesMax;
    return this.#window.roomAfter(this.#reader.offsets);
  }

  #resume(): void {
    this.#isBusy = false;
    this.#advance();
  }

  /** False where there is nothing to send for now. */
  #sendNext(): boolean {
    for (const stream of this.#turns) {
      if (!this.#sendFrom(stream)) continue;
      if (stream === this.#turns[0]) this.#turns.reverse(); // neither keeps the other waiting
      return true;
    }
    if (this.#reader.isAtEnd) this.#sendExit();
    return false;
  }

  #sendFrom(stream: StreamName): boolean {
    const { command, encoding, encoder, lane } = this.#spec;
    const wholeMax = encoding === "base64" ? base64FrameBytesMax : frameBytesMax;
    const bytesMax = Math.min(wholeMax, Math.max(this.#roomInWindow, pieceBytesMin));
    const piece = this.#reader.peek(stream, bytesMax, encoding === "utf8");
    const made = piece && outputFrame(command.id, piece, { encoding, encoder }, this.#window !== undefined);
    if (!made) return false;
    this.#reader.moveTo(stream, piece.offset + made.bytes);
    if (this.#isSilent) this.#place?.moveTo(stream, piece.offset + made.bytes); // it cannot say that it has taken it
    if (piece.missingFrom !== undefined) lane.send(gapFrame(command.id, piece));
    lane.send(made.frame);
    return true;
  }

  #sendExit(): void {
    const { command, lane } = this.#spec;
    const { exitCode, signal, reason, durationMs, leftovers, receipt } = command.outcome!;
    lane.send(
      encodeFrame({
        stream_id: command.id,
        type: "exit",
        exit_code: exitCode,
        signal,
        reason,
        duration_ms: durationMs,
        timed_out: isTimeout(reason),
        stdout_bytes: command.output.stdout.totalBytes,
        stderr_bytes: command.output.stderr.totalBytes,
        leftovers,
        receipt,
      } satisfies ExitFrame),
    );
    this.end();
  }

  #watchForStall(): void {
    const { lane, stallTimeoutS } = this.#spec;
    if (this.#stallTimer !== undefined || stallTimeoutS === 0) return;
    const check = () => {
      const lastProgress = this.#window ? this.#window.lastProgress : lane.lastProgress;
      const leftMs = lastProgress + stallTimeoutS * 1000 - performance.now();
      if (leftMs <= 0) this.#letGo();
      else this.#stallTimer = setTimeout(check, leftMs + 1);
    };
    this.#stallTimer = setTimeout(check, stallTimeoutS * 1000);
  }

  /** It may attach again from these offsets. */
  #letGo(): void {
    const { command, lane } = this.#spec;
    const { stdout, stderr } = this.#reader.offsets;
    const frame = { stream_id: command.id, type: "lagged", stdout_offset: stdout, stderr_offset: stderr };
    lane.send(encodeFrame(frame));
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#stallTimer);
    this.#reader.close();
    this.#place?.close();
    const { command, resumeKey, lane, onEnd } = this.#spec;
    if (resumeKey !== undefined) leave(command, resumeKey, this);
    lane.detach(this);
    onEnd();
  }
}

/** What was sent without being acknowledged may not have arrived. */
const onItsWay = ({ stdout, stderr }: Offsets): Offsets => ({
  stdout: Math.max(0, stdout - unacknowledgedBytes),
  stderr: Math.max(0, stderr - unacknowledgedBytes),
});
/** A frame, and what a socket holds. */
const unacknowledgedBytes = 2 * frameBytesMax;

/** A character must fit, even into a window that is nearly full. */
const pieceBytesMin = 16;
