// Subscription to a command's output in another runtime, with two windows: this daemon's towards the remote daemon, and
// the client's towards this daemon.
import type { TrlError } from "../../protocol/errors.ts";
import { type ExitFrame, lostExitCode, lostReason } from "../../protocol/exec.ts";
import type { MethodName, Params, Result } from "../../protocol/methods.ts";
import type { RemoteConnection } from "../connection.ts";
import { acknowledgeMs, streamWindowBytes } from "../limits.ts";
import type { RemoteLink } from "../link.ts";
import type { FrameWriter } from "../writer.ts";
import { exitText, fieldsOf, type RemoteFrame, streamOutput, withoutEnd } from "./frame-text.ts";
import { RemoteSubscription } from "./subscription.ts";

const streamNames = ["stdout", "stderr"] as const;
type StreamName = (typeof streamNames)[number];
type Offsets = Record<StreamName, number>;

/** The client's params that a resume needs. */
export interface RemoteStreamOptions {
  stdout_offset?: number;
  stderr_offset?: number;
  encoding?: string;
  stall_timeout_s?: number;
  /** Set if the client acknowledges output itself. */
  window_bytes?: number;
  resume_key?: string;
}

export class RemoteStream extends RemoteSubscription {
  readonly #options: RemoteStreamOptions;
  readonly #resumeKey: string;
  readonly #received: Offsets;
  /** Sent to the client's connection. */
  readonly #sent: Offsets;
  /** Acknowledged by the client, if it has a window. */
  readonly #clientAcknowledged: Offsets;
  #acknowledged: number;
  #acknowledgeTimer: Timer | undefined;

  readonly replacesPrevious = false;

  constructor(id: string, connection: RemoteConnection, writer: FrameWriter, options: RemoteStreamOptions) {
    super(id, connection, writer);
    this.#options = options;
    this.#resumeKey = options.resume_key ?? crypto.randomUUID();
    this.#received = { stdout: options.stdout_offset ?? 0, stderr: options.stderr_offset ?? 0 };
    this.#sent = { ...this.#received };
    this.#clientAcknowledged = { ...this.#received };
    this.#acknowledged = sum(this.#sent);
  }

  get detachRequest(): [MethodName, object] {
    return ["exec.detach", { stream_id: this.id }];
  }

  /**
   * The remote daemon sends at most a window ahead of what the client's connection has taken, and buffers the rest: a
   * slow client fills no memory here, and a lost link loses no output.
   */
  get windowParams() {
    const { window_bytes = streamWindowBytes } = this.#options;
    return { window_bytes: Math.min(window_bytes, streamWindowBytes), resume_key: this.#resumeKey };
  }

  /** The reply to exec.attach has the offsets at which the output really starts. */
  setStart({ stdout_offset, stderr_offset }: Result<"exec.attach">): void {
    const start = { stdout: stdout_offset, stderr: stderr_offset };
    for (const offsets of [this.#received, this.#sent, this.#clientAcknowledged])
      Object.assign(offsets, start);
    this.#acknowledged = sum(start);
  }

  receive(frame: RemoteFrame): void {
    if (frame.type === "stdout" || frame.type === "stderr") this.#receiveOutput(frame, frame.type);
    else if (frame.type === "gap") {
      const { stream, to } = fieldsOf(frame) as { stream: StreamName; to: number };
      this.#enqueueGap(frame.text, stream, to);
    } else if (frame.type === "exit") this.enqueueLast(exitText(frame, this.connection.runtime.name));
    else if (frame.type === "lagged") this.enqueueLast(frame.text);
    else this.enqueue({ text: frame.text });
  }

  /** The client has read everything before these offsets. */
  acknowledge({ stdout_offset = 0, stderr_offset = 0 }: Params<"exec.ack">): void {
    const acknowledged = this.#clientAcknowledged;
    acknowledged.stdout = Math.max(acknowledged.stdout, Math.min(stdout_offset, this.#sent.stdout));
    acknowledged.stderr = Math.max(acknowledged.stderr, Math.min(stderr_offset, this.#sent.stderr));
    this.onWritable();
  }

  async resume(link: RemoteLink): Promise<void> {
    const { encoding, stall_timeout_s } = this.#options;
    const from = { ...this.#received };
    const params = {
      stream_id: this.id,
      stdout_offset: from.stdout,
      stderr_offset: from.stderr,
      ...this.windowParams,
      ...(encoding === undefined ? {} : { encoding }),
      ...(stall_timeout_s === undefined ? {} : { stall_timeout_s }),
    };
    const received = (data: unknown) => {
      const { stdout_offset, stderr_offset } = data as Result<"exec.attach">;
      this.#skip("stdout", from.stdout, stdout_offset);
      this.#skip("stderr", from.stderr, stderr_offset);
    };
    await link.request("exec.attach", params, { received });
  }

  fail({ code, message, data }: TrlError): void {
    const frame: ExitFrame = {
      stream_id: this.id,
      type: "exit",
      exit_code: lostExitCode,
      signal: null,
      reason: lostReason,
      duration_ms: 0,
      timed_out: false,
      stdout_bytes: this.#received.stdout,
      stderr_bytes: this.#received.stderr,
      leftovers: [],
      error: { code, message, data },
    };
    this.enqueueLast(JSON.stringify(frame));
  }

  override end(): void {
    clearTimeout(this.#acknowledgeTimer);
    super.end();
  }

  #receiveOutput(frame: RemoteFrame, stream: StreamName): void {
    const { end } = streamOutput(frame);
    this.#received[stream] = end;
    const window = this.#options.window_bytes;
    this.enqueue({
      text: window === undefined ? withoutEnd(frame.text) : frame.text,
      maySend: () =>
        window === undefined || this.writer.isInputEnded || this.#unacknowledgedBytes(stream, end) <= window,
      onSend: () => {
        this.#sent[stream] = end;
      },
      onFlushed: () => this.#flushed(),
    });
  }

  #unacknowledgedBytes(stream: StreamName, end: number): number {
    return sum({ ...this.#sent, [stream]: end }) - sum(this.#clientAcknowledged) - characterBytes;
  }

  #flushed(): void {
    if (sum(this.#sent) - this.#acknowledged >= this.windowParams.window_bytes / 4) this.#acknowledge();
    else this.#acknowledgeTimer ??= setTimeout(() => this.#acknowledge(), acknowledgeMs);
  }

  #acknowledge(): void {
    clearTimeout(this.#acknowledgeTimer);
    this.#acknowledgeTimer = undefined;
    this.#acknowledged = sum(this.#sent);
    const { stdout, stderr } = this.#sent;
    this.connection.notify("exec.ack", { stream_id: this.id, stdout_offset: stdout, stderr_offset: stderr });
  }

  /** Reports output that the remote daemon dropped while the link was lost. */
  #skip(stream: StreamName, from: number, to: number): void {
    if (to > from)
      this.#enqueueGap(JSON.stringify({ stream_id: this.id, type: "gap", stream, from, to }), stream, to);
  }

  #enqueueGap(text: string, stream: StreamName, to: number): void {
    this.#received[stream] = to;
    const onSend = () => {
      this.#sent[stream] = this.#clientAcknowledged[stream] = to; // a gap uses no window
    };
    this.enqueue({ text, onSend, onFlushed: () => this.#flushed() });
  }
}

/** The daemon does not split a character, so a frame may exceed the window by the rest of one. */
const characterBytes = 16;

const sum = ({ stdout, stderr }: Offsets): number => stdout + stderr;
