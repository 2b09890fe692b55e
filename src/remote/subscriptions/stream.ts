// A command's output in another runtime.
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

/** What of the client's params matters for coming back. */
export interface RemoteStreamOptions {
  stdout_offset?: number;
  stderr_offset?: number;
  encoding?: string;
  stall_timeout_s?: number;
  /** The client says itself how much it has taken. */
  window_bytes?: number;
  resume_key?: string;
}

export class RemoteStream extends RemoteSubscription {
  readonly #wishes: RemoteStreamOptions;
  readonly #resumeKey: string;
  readonly #received: Offsets;
  /** Passed on to the client's connection. */
  readonly #passed: Offsets;
  /** By the client's own word, where it has a window. */
  readonly #takenByClient: Offsets;
  #acknowledged: number;
  #acknowledgement: Timer | undefined;

  readonly takesPlace = false;

  constructor(id: string, connection: RemoteConnection, outlet: FrameWriter, wishes: RemoteStreamOptions) {
    super(id, connection, outlet);
    this.#wishes = wishes;
    this.#resumeKey = wishes.resume_key ?? crypto.randomUUID();
    this.#received = { stdout: wishes.stdout_offset ?? 0, stderr: wishes.stderr_offset ?? 0 };
    this.#passed = { ...this.#received };
    this.#takenByClient = { ...this.#received };
    this.#acknowledged = sum(this.#passed);
  }

  get farewell(): [MethodName, object] {
    return ["exec.detach", { stream_id: this.id }];
  }

  /**
   * The daemon there sends no more than we have passed on, and keeps what we have not: neither does anything pile up
   * here for a slow client, nor is anything lost with a link.
   */
  get terms() {
    const { window_bytes = streamWindowBytes } = this.#wishes;
    return { window_bytes: Math.min(window_bytes, streamWindowBytes), resume_key: this.#resumeKey };
  }

  /** The reply to exec.attach says where it really begins. */
  beginsAt({ stdout_offset, stderr_offset }: Result<"exec.attach">): void {
    const begin = { stdout: stdout_offset, stderr: stderr_offset };
    for (const offsets of [this.#received, this.#passed, this.#takenByClient]) Object.assign(offsets, begin);
    this.#acknowledged = sum(begin);
  }

  take(frame: RemoteFrame): void {
    if (frame.type === "stdout" || frame.type === "stderr") this.#takeOutput(frame, frame.type);
    else if (frame.type === "gap") {
      const { stream, to } = fieldsOf(frame) as { stream: StreamName; to: number };
      this.#passGap(frame.text, stream, to);
    } else if (frame.type === "exit") this.passLast(exitText(frame, this.connection.runtime.name));
    else if (frame.type === "lagged") this.passLast(frame.text);
    else this.pass({ text: frame.text });
  }

  /** The client has taken everything before these offsets. */
  acknowledge({ stdout_offset = 0, stderr_offset = 0 }: Params<"exec.ack">): void {
    const taken = this.#takenByClient;
    taken.stdout = Math.max(taken.stdout, Math.min(stdout_offset, this.#passed.stdout));
    taken.stderr = Math.max(taken.stderr, Math.min(stderr_offset, this.#passed.stderr));
    this.onWritable();
  }

  async resume(link: RemoteLink): Promise<void> {
    const { encoding, stall_timeout_s } = this.#wishes;
    const asked = { ...this.#received };
    const params = {
      stream_id: this.id,
      stdout_offset: asked.stdout,
      stderr_offset: asked.stderr,
      ...this.terms,
      ...(encoding === undefined ? {} : { encoding }),
      ...(stall_timeout_s === undefined ? {} : { stall_timeout_s }),
    };
    await link.request("exec.attach", params, (data) => {
      const { stdout_offset, stderr_offset } = data as Result<"exec.attach">;
      this.#skip("stdout", asked.stdout, stdout_offset);
      this.#skip("stderr", asked.stderr, stderr_offset);
    });
  }

  lose({ code, message, data }: TrlError): void {
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
    this.passLast(JSON.stringify(frame));
  }

  override end(): void {
    clearTimeout(this.#acknowledgement);
    super.end();
  }

  #takeOutput(frame: RemoteFrame, stream: StreamName): void {
    const { end } = streamOutput(frame);
    this.#received[stream] = end;
    const window = this.#wishes.window_bytes;
    this.pass({
      text: window === undefined ? withoutEnd(frame.text) : frame.text,
      mayPass: () =>
        window === undefined || this.outlet.isInputEnded || this.#bytesUnderWay(stream, end) <= window,
      passes: () => {
        this.#passed[stream] = end;
      },
      hasLeft: () => this.#hasLeft(),
    });
  }

  #bytesUnderWay(stream: StreamName, end: number): number {
    return sum({ ...this.#passed, [stream]: end }) - sum(this.#takenByClient) - characterBytes;
  }

  #hasLeft(): void {
    if (sum(this.#passed) - this.#acknowledged >= this.terms.window_bytes / 4) this.#acknowledge();
    else this.#acknowledgement ??= setTimeout(() => this.#acknowledge(), acknowledgeMs);
  }

  #acknowledge(): void {
    clearTimeout(this.#acknowledgement);
    this.#acknowledgement = undefined;
    this.#acknowledged = sum(this.#passed);
    const { stdout, stderr } = this.#passed;
    this.connection.tell("exec.ack", { stream_id: this.id, stdout_offset: stdout, stderr_offset: stderr });
  }

  /** Not kept there while we were away. */
  #skip(stream: StreamName, from: number, to: number): void {
    if (to > from)
      this.#passGap(JSON.stringify({ stream_id: this.id, type: "gap", stream, from, to }), stream, to);
  }

  #passGap(text: string, stream: StreamName, to: number): void {
    this.#received[stream] = to;
    const passes = () => {
      this.#passed[stream] = this.#takenByClient[stream] = to; // nothing of it is under way
    };
    this.pass({ text, passes, hasLeft: () => this.#hasLeft() });
  }
}

/** A window is exceeded by what is left of a character. */
const characterBytes = 16;

const sum = ({ stdout, stderr }: Offsets): number => stdout + stderr;
