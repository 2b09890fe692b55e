// Subscription to a terminal in another runtime.
import type { TrlError } from "../../protocol/errors.ts";
import { lostExitCode, lostReason } from "../../protocol/exec.ts";
import type { MethodName, Result } from "../../protocol/methods.ts";
import type { RemoteConnection } from "../connection.ts";
import { terminalWindowBytes } from "../limits.ts";
import type { RemoteLink } from "../link.ts";
import type { FrameWriter } from "../writer.ts";
import { exitText, fieldsOf, type RemoteFrame, terminalOutput } from "./frame-text.ts";
import { RemoteSubscription } from "./subscription.ts";

/** Encodes frames in the client's dialect. */
export interface Presentation {
  output(data: string, frame: RemoteFrame): string;
  /** All other frames; undefined if the dialect has no such frame. */
  other(frame: RemoteFrame): string | undefined;
  isFrontend: boolean;
}

export const verbatim: Presentation = {
  output: (_, { text }) => text,
  other: ({ text }) => text,
  isFrontend: false,
};

/** The client's params that a resume needs. */
export interface RemoteSubscriptionOptions {
  presentation: Presentation;
  windowBytes: number | undefined;
  isPassive: boolean;
  exitsAfterTree: boolean;
  beginsWithRedraw: boolean;
}

export class RemoteTerminal extends RemoteSubscription {
  readonly presentation: Presentation;
  readonly #clientWindowBytes: number | undefined;
  readonly #isPassive: boolean;
  readonly #exitsAfterTree: boolean;
  /** Offset of the next live byte. */
  #end = 0;
  #flushedTo = 0;
  #acknowledged = 0;
  #size = { cols: 0, rows: 0 };
  /** True after a gap, until a redraw arrives. */
  #awaitsRedraw: boolean;

  readonly replacesPrevious = true;

  constructor(
    id: string,
    connection: RemoteConnection,
    writer: FrameWriter,
    options: RemoteSubscriptionOptions,
  ) {
    super(id, connection, writer);
    this.presentation = options.presentation;
    this.#clientWindowBytes = options.windowBytes;
    this.#isPassive = options.isPassive;
    this.#exitsAfterTree = options.exitsAfterTree;
    this.#awaitsRedraw = options.beginsWithRedraw;
  }

  get detachRequest(): [MethodName, object] {
    return ["pty.unsubscribe", { session_id: this.id }];
  }

  get windowParams() {
    return {
      window_bytes: this.#clientWindowBytes ?? terminalWindowBytes,
      ...(this.#isPassive ? { passive: true } : {}),
      ...(this.#exitsAfterTree ? { exit_after_tree: true } : {}),
    };
  }

  override onWritable(): void {
    // A client that can send nothing any more cannot acknowledge, so flushed output counts as acknowledged.
    if (this.writer.isInputEnded) this.#acknowledge();
    super.onWritable();
  }

  setStart({ offset, cols, rows }: Result<"pty.subscribe">): void {
    this.#end = this.#flushedTo = this.#acknowledged = offset;
    this.#size = { cols, rows };
  }

  receive(frame: RemoteFrame): void {
    if (frame.type === "output") {
      const { data, end, isRedraw } = terminalOutput(frame);
      if (isRedraw) this.#awaitsRedraw = false;
      this.#end = end;
      this.enqueue({ text: this.presentation.output(data, frame), onFlushed: () => this.#flushed(end) });
      return;
    }
    if (frame.type === "resize") {
      const { cols, rows } = fieldsOf(frame) as { cols: number; rows: number };
      this.#size = { cols, rows };
    }
    if (frame.type === "gap") this.#awaitsRedraw = true;
    if (frame.type === "exit")
      this.enqueueLast(
        this.presentation.other({ ...frame, text: exitText(frame, this.connection.runtime.name) }),
      );
    else this.enqueue({ text: this.presentation.other(frame) });
  }

  async resume(link: RemoteLink): Promise<void> {
    const where = this.#awaitsRedraw ? { replay: "screen" } : { from: this.#end };
    const params = { session_id: this.id, ...where, ...this.windowParams };
    const received = (data: unknown) => {
      const { cols, rows } = data as Result<"pty.subscribe">;
      if (cols !== this.#size.cols || rows !== this.#size.rows)
        this.#receiveSynthetic({ type: "resize", cols, rows });
    };
    await link.request("pty.subscribe", params, { received });
  }

  fail({ code, message, data }: TrlError): void {
    this.#receiveSynthetic({
      type: "exit",
      exit_code: lostExitCode,
      signal: null,
      offset: this.#end,
      reason: lostReason,
      error: { code, message, data },
    });
  }

  #acknowledge(): void {
    if (this.#flushedTo <= this.#acknowledged) return;
    this.#acknowledged = this.#flushedTo;
    this.connection.notify("pty.ack", { session_id: this.id, offset: this.#flushedTo });
  }

  /** Handles a frame as if the remote daemon had sent it. */
  #receiveSynthetic(fields: { type: string; [field: string]: unknown }): void {
    const text = JSON.stringify({ session_id: this.id, ...fields });
    this.receive({ id: this.id, type: fields.type, text });
  }

  #flushed(end: number): void {
    this.#flushedTo = Math.max(this.#flushedTo, end);
    if (this.#clientWindowBytes !== undefined && !this.writer.isInputEnded) return;
    if (this.#flushedTo - this.#acknowledged >= this.windowParams.window_bytes / 4) this.#acknowledge();
  }
}
