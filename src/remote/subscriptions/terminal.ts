// A terminal's output in another runtime.
import type { TrlError } from "../../protocol/errors.ts";
import { lostExitCode, lostReason } from "../../protocol/exec.ts";
import type { MethodName, Result } from "../../protocol/methods.ts";
import type { RemoteConnection } from "../connection.ts";
import { terminalWindowBytes } from "../limits.ts";
import type { RemoteLink } from "../link.ts";
import type { FrameWriter } from "../writer.ts";
import { exitText, fieldsOf, type RemoteFrame, terminalOutput } from "./frame-text.ts";
import { RemoteSubscription } from "./subscription.ts";

/** How the client's dialect writes a frame; nothing where it does not know such a thing. */
export interface Presentation {
  output(data: string, frame: RemoteFrame): string;
  /** All the others, by their type. */
  other(frame: RemoteFrame): string | undefined;
  isFrontend: boolean;
}

export const asItIs: Presentation = {
  output: (_, { text }) => text,
  other: ({ text }) => text,
  isFrontend: false,
};

/** What of the client's params matters for coming back. */
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
  /** The next live byte. */
  #end = 0;
  #taken = 0;
  #acknowledged = 0;
  #size = { cols: 0, rows: 0 };
  /** After a gap, until the screen has come. */
  #awaitsRedraw: boolean;

  readonly takesPlace = true;

  constructor(id: string, connection: RemoteConnection, outlet: FrameWriter, how: RemoteSubscriptionOptions) {
    super(id, connection, outlet);
    this.presentation = how.presentation;
    this.#clientWindowBytes = how.windowBytes;
    this.#isPassive = how.isPassive;
    this.#exitsAfterTree = how.exitsAfterTree;
    this.#awaitsRedraw = how.beginsWithRedraw;
  }

  get farewell(): [MethodName, object] {
    return ["pty.unsubscribe", { session_id: this.id }];
  }

  get terms() {
    return {
      window_bytes: this.#clientWindowBytes ?? terminalWindowBytes,
      ...(this.#isPassive ? { passive: true } : {}),
      ...(this.#exitsAfterTree ? { exit_after_tree: true } : {}),
    };
  }

  override onWritable(): void {
    // Who cannot say any more how much it has taken takes what leaves.
    if (this.outlet.isInputEnded) this.#acknowledge();
    super.onWritable();
  }

  beginsAt({ offset, cols, rows }: Result<"pty.subscribe">): void {
    this.#end = this.#taken = this.#acknowledged = offset;
    this.#size = { cols, rows };
  }

  take(frame: RemoteFrame): void {
    if (frame.type === "output") {
      const { data, end, isRedraw } = terminalOutput(frame);
      if (isRedraw) this.#awaitsRedraw = false;
      this.#end = end;
      this.pass({ text: this.presentation.output(data, frame), hasLeft: () => this.#took(end) });
      return;
    }
    if (frame.type === "resize") {
      const { cols, rows } = fieldsOf(frame) as { cols: number; rows: number };
      this.#size = { cols, rows };
    }
    if (frame.type === "gap") this.#awaitsRedraw = true;
    if (frame.type === "exit")
      this.passLast(
        this.presentation.other({ ...frame, text: exitText(frame, this.connection.runtime.name) }),
      );
    else this.pass({ text: this.presentation.other(frame) });
  }

  async resume(link: RemoteLink): Promise<void> {
    const where = this.#awaitsRedraw ? { replay: "screen" } : { from: this.#end };
    const params = { session_id: this.id, ...where, ...this.terms };
    await link.request("pty.subscribe", params, (data) => {
      const { cols, rows } = data as Result<"pty.subscribe">;
      if (cols !== this.#size.cols || rows !== this.#size.rows) this.#tell({ type: "resize", cols, rows });
    });
  }

  lose({ code, message, data }: TrlError): void {
    this.#tell({
      type: "exit",
      exit_code: lostExitCode,
      signal: null,
      offset: this.#end,
      reason: lostReason,
      error: { code, message, data },
    });
  }

  #acknowledge(): void {
    if (this.#taken <= this.#acknowledged) return;
    this.#acknowledged = this.#taken;
    this.connection.tell("pty.ack", { session_id: this.id, offset: this.#taken });
  }

  /** What the daemon there would have said. */
  #tell(fields: { type: string; [field: string]: unknown }): void {
    const text = JSON.stringify({ session_id: this.id, ...fields });
    this.take({ id: this.id, type: fields.type, text });
  }

  #took(end: number): void {
    this.#taken = Math.max(this.#taken, end);
    if (this.#clientWindowBytes !== undefined && !this.outlet.isInputEnded) return;
    if (this.#taken - this.#acknowledged >= this.terms.window_bytes / 4) this.#acknowledge();
  }
}
