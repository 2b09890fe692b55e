// A command's output in another runtime.
import type { TrlError } from "../protocol/errors.ts";
import { type ExitFrame, lostExitCode, lostReason } from "../protocol/exec.ts";
import type { Result } from "../protocol/methods.ts";
import type { FarConnection } from "./far-connection.ts";
import type { FarLink } from "./far-link.ts";
import { Followed } from "./followed.ts";
import { type FarFrame, fieldsOf, streamOutput, withoutEnd } from "./frame-text.ts";
import { streamWindowBytes } from "./limits.ts";
import type { Outlet } from "./outlet.ts";

const streamNames = ["stdout", "stderr"] as const;
type StreamName = (typeof streamNames)[number];
type Offsets = Record<StreamName, number>;

/** What of the client's params matters for coming back. */
export interface StreamWishes {
  stdout_offset?: number;
  stderr_offset?: number;
  encoding?: string;
  stall_timeout_s?: number;
  /** The client says itself how much it has taken. */
  window_bytes?: number;
}

export class FollowedStream extends Followed {
  readonly #wishes: StreamWishes;
  readonly #received: Offsets;
  readonly #taken: Offsets;
  #acknowledged: number;

  constructor(id: string, connection: FarConnection, outlet: Outlet, wishes: StreamWishes) {
    super(id, connection, outlet);
    this.#wishes = wishes;
    this.#received = { stdout: wishes.stdout_offset ?? 0, stderr: wishes.stderr_offset ?? 0 };
    this.#taken = { ...this.#received };
    this.#acknowledged = sum(this.#taken);
  }

  /** The client's, or ours: nothing is to pile up here for a client that is slow. */
  get windowBytes(): number {
    return this.#wishes.window_bytes ?? streamWindowBytes;
  }

  /** The reply to exec.attach says where it really begins. */
  beginsAt({ stdout_offset, stderr_offset }: Result<"exec.attach">): void {
    Object.assign(this.#received, { stdout: stdout_offset, stderr: stderr_offset });
    Object.assign(this.#taken, this.#received);
    this.#acknowledged = sum(this.#taken);
  }

  take(frame: FarFrame): void {
    if (frame.type === "stdout" || frame.type === "stderr") this.#takeOutput(frame, frame.type);
    else if (frame.type === "gap") {
      const { stream, to } = fieldsOf(frame) as { stream: StreamName; to: number };
      this.#received[stream] = to;
      this.pass(frame.text, () => this.#took(stream, to));
    } else if (frame.type === "exit" || frame.type === "lagged") this.passLast(frame.text);
    else this.pass(frame.text);
  }

  async resume(link: FarLink): Promise<void> {
    const { encoding, stall_timeout_s } = this.#wishes;
    const asked = { ...this.#received };
    const params = {
      stream_id: this.id,
      stdout_offset: asked.stdout,
      stderr_offset: asked.stderr,
      window_bytes: this.windowBytes,
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

  protected acknowledgeFor(): void {
    const taken = sum(this.#taken);
    if (taken <= this.#acknowledged) return;
    this.#acknowledged = taken;
    const { stdout, stderr } = this.#taken;
    this.connection.tell("exec.ack", { stream_id: this.id, stdout_offset: stdout, stderr_offset: stderr });
  }

  #takeOutput(frame: FarFrame, stream: StreamName): void {
    const { end } = streamOutput(frame);
    this.#received[stream] = end;
    const isAsked = this.#wishes.window_bytes !== undefined;
    this.pass(isAsked ? frame.text : withoutEnd(frame.text), () => this.#took(stream, end));
  }

  #took(stream: StreamName, end: number): void {
    this.#taken[stream] = end;
    if (this.#wishes.window_bytes !== undefined && !this.outlet.isDeaf) return;
    if (sum(this.#taken) - this.#acknowledged >= this.windowBytes / 4) this.acknowledgeFor();
  }

  /** Not kept there while we were away. */
  #skip(stream: StreamName, from: number, to: number): void {
    if (to <= from) return;
    this.#received[stream] = to;
    const gap = { stream_id: this.id, type: "gap", stream, from, to };
    this.pass(JSON.stringify(gap), () => this.#took(stream, to));
  }
}

const sum = ({ stdout, stderr }: Offsets): number => stdout + stderr;
