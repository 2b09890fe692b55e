// One client attached to one command: reads the command's output as fast as the client takes it. A client that takes
// nothing within the stall timeout is detached, so that backpressure does not block the command for ever.
import type { KnownCommand } from "../core/command/command.ts";
import { type Offsets, type OutputReader, type StreamName, streamNames } from "../core/command/output.ts";
import { type Encoding, type ExitFrame, isTimeout, lostExitCode, lostReason } from "../protocol/exec.ts";
import { encodeFrame } from "../protocol/frame.ts";
import { AttachmentWindow } from "./attachment-window.ts";
import { base64FrameBytesMax, frameBytesMax } from "./limits.ts";
import type { OutgoingQueue, QueueSubscriber } from "./outgoing-queue.ts";
import type { ResumePoints } from "./resume-points.ts";
import { gapFrame, type StreamFrames } from "./stream-frames.ts";

export interface AttachmentSpec {
  command: KnownCommand;
  from: Offsets;
  encoding: Encoding;
  queue: OutgoingQueue;
  frames: StreamFrames;
  resumePoints: ResumePoints;
  stallTimeoutS: number;
  /** Defined if the client acknowledges output. */
  windowBytes: number | undefined;
  /** Unacknowledged output is kept for a client that reconnects with this key. */
  resumeKey: string | undefined;
  onEnd(): void;
}

export class Attachment implements QueueSubscriber {
  readonly #spec: AttachmentSpec;
  readonly #reader: OutputReader;
  #stallTimer: Timer | undefined;
  readonly #window: AttachmentWindow | undefined;
  /** Stays at the acknowledged offsets while `#reader` runs ahead, so that unacknowledged output is kept. */
  #acknowledgedReader: OutputReader | undefined;
  readonly #turns: StreamName[] = ["stderr", "stdout"];
  #isWaitingForTurn = false;
  #isStarted = false;
  #isEnded = false;

  /** From here on the command waits for this client; nothing is sent before `start`. */
  constructor(spec: AttachmentSpec) {
    this.#spec = spec;
    const { command, queue, resumeKey, resumePoints } = spec;
    const { output } = command;
    if (spec.windowBytes !== undefined) {
      // Unacknowledged output must leave ring space for new output.
      const keptBytesMax = Math.floor(Math.min(output.stdout.ringBytes, output.stderr.ringBytes) / 2);
      const hasKey = resumeKey !== undefined;
      const bytes = hasKey ? Math.min(spec.windowBytes, keptBytesMax) : spec.windowBytes;
      this.#window = new AttachmentWindow(bytes, spec.from);
      if (hasKey || bytes <= keptBytesMax)
        this.#acknowledgedReader = output.openReader({ ...spec.from }, () => {});
    }
    this.#reader = output.openReader(spec.from, () => this.#advance());
    resumePoints.releaseUnkeyed(command, spec.from);
    if (resumeKey !== undefined) resumePoints.attach(command, resumeKey, this);
    queue.attach(this);
  }

  start(): void {
    this.#isStarted = true;
    this.#advance();
  }

  onWritable(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    this.#advance();
  }

  onDisconnect(): void {
    const { command, resumeKey, resumePoints } = this.#spec;
    if (this.#isEnded || resumeKey !== undefined) return; // `onClosed` keeps the point of a client with a key
    resumePoints.keepUnkeyed(command, this.#window?.acknowledged ?? surelyReceived(this.#reader.offsets));
  }

  onClosed(): void {
    const { command, resumeKey, stallTimeoutS, resumePoints } = this.#spec;
    if (this.#acknowledgedReader && resumeKey !== undefined && !this.#isEnded) {
      resumePoints.keep(command, resumeKey, this.#acknowledgedReader, stallTimeoutS);
      this.#acknowledgedReader = undefined;
    }
    this.end();
  }

  /** The client has taken everything before these offsets. */
  acknowledge(offsets: Partial<Offsets>): void {
    this.#window?.acknowledge(offsets, this.#reader.offsets);
    if (this.#window && this.#acknowledgedReader)
      for (const name of streamNames) this.#acknowledgedReader.moveTo(name, this.#window.acknowledged[name]);
    this.onWritable();
  }

  /** Sends one frame; the next one follows in another turn of the event loop, so that other clients are served. */
  #advance(): void {
    if (!this.#isStarted || this.#isEnded || this.#isWaitingForTurn) return;
    if (!this.#spec.queue.isWritable || this.#windowSpace <= 0) {
      this.#watchForStall();
      return;
    }
    if (!this.#sendNext()) return;
    this.#isWaitingForTurn = true;
    setImmediate(() => {
      this.#isWaitingForTurn = false;
      this.#advance();
    });
  }

  /**
   * The client has closed its sending side and wants the rest without acknowledging it. A client with a resume key may
   * just be losing its connection, so its window still applies.
   */
  get #ignoresWindow(): boolean {
    const { queue, resumeKey } = this.#spec;
    return queue.isInputEnded && resumeKey === undefined;
  }

  get #windowSpace(): number {
    if (!this.#window || this.#ignoresWindow) return frameBytesMax;
    return this.#window.spaceAfter(this.#reader.offsets);
  }

  /** False if there is nothing to send for now. */
  #sendNext(): boolean {
    for (const stream of this.#turns) {
      if (!this.#sendFrom(stream)) continue;
      if (stream === this.#turns[0]) this.#turns.reverse(); // streams alternate
      return true;
    }
    if (this.#reader.isAtEnd) this.#sendExit();
    return false;
  }

  #sendFrom(stream: StreamName): boolean {
    const { command, encoding, queue, frames } = this.#spec;
    const frameMax = encoding === "base64" ? base64FrameBytesMax : frameBytesMax;
    const bytesMax = Math.min(frameMax, Math.max(this.#windowSpace, pieceBytesMin));
    const piece = this.#reader.peek(stream, bytesMax, encoding === "utf8");
    const encoded = piece && frames.output(command.id, piece, encoding, this.#window !== undefined);
    if (!encoded) return false;
    const end = piece.offset + encoded.bytes;
    this.#reader.moveTo(stream, end);
    if (this.#ignoresWindow) this.#acknowledgedReader?.moveTo(stream, end); // no acknowledgement will come
    if (piece.missingFrom !== undefined) queue.send(gapFrame(command.id, piece));
    queue.send(encoded.frame);
    return true;
  }

  #sendExit(): void {
    const { command, queue } = this.#spec;
    const { exitCode, signal, reason, durationMs, leftovers, receipt, failure } = command.outcome!;
    const isLost = failure !== undefined;
    queue.send(
      encodeFrame({
        stream_id: command.id,
        type: "exit",
        exit_code: isLost ? lostExitCode : exitCode,
        signal: isLost ? null : signal,
        reason: isLost ? lostReason : reason,
        duration_ms: durationMs,
        timed_out: isTimeout(reason),
        stdout_bytes: command.output.stdout.totalBytes,
        stderr_bytes: command.output.stderr.totalBytes,
        leftovers,
        receipt,
        ...(isLost ? { error: { code: "SPAWN_FAILED", message: failure } } : {}),
      } satisfies ExitFrame),
    );
    this.end();
  }

  #watchForStall(): void {
    const { queue, stallTimeoutS } = this.#spec;
    if (this.#stallTimer !== undefined || stallTimeoutS === 0) return;
    const check = () => {
      const lastProgress = this.#window ? this.#window.lastProgress : queue.lastProgress;
      const leftMs = lastProgress + stallTimeoutS * 1000 - performance.now();
      if (leftMs <= 0) this.#endStalled();
      else this.#stallTimer = setTimeout(check, leftMs + 1);
    };
    this.#stallTimer = setTimeout(check, stallTimeoutS * 1000);
  }

  /** The client may attach again from the offsets of the frame. */
  #endStalled(): void {
    const { command, queue } = this.#spec;
    const { stdout, stderr } = this.#reader.offsets;
    const frame = { stream_id: command.id, type: "lagged", stdout_offset: stdout, stderr_offset: stderr };
    queue.send(encodeFrame(frame));
    this.end();
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#stallTimer);
    this.#reader.close();
    this.#acknowledgedReader?.close();
    const { command, resumeKey, resumePoints, queue, onEnd } = this.#spec;
    if (resumeKey !== undefined) resumePoints.detach(command, resumeKey, this);
    queue.detach(this);
    onEnd();
  }
}

/** Without acknowledgements, the last bytes that were sent may still be in a buffer and get lost. */
const surelyReceived = ({ stdout, stderr }: Offsets): Offsets => ({
  stdout: Math.max(0, stdout - unacknowledgedBytes),
  stderr: Math.max(0, stderr - unacknowledgedBytes),
});
/** A frame, and the buffer of a socket. */
const unacknowledgedBytes = 2 * frameBytesMax;

/** A whole character must fit, even into a window that is nearly full. */
const pieceBytesMin = 16;
