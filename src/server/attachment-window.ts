// The flow-control window of an attachment: how many unacknowledged bytes may be sent. A window limits one stream only;
// pausing the connection would also stop the other traffic on it.
import { type Offsets, streamNames } from "../core/command/output.ts";

export class AttachmentWindow {
  /** When the client last acknowledged anything, by performance.now(). */
  lastProgress = performance.now();
  readonly #acknowledged: Offsets;

  constructor(
    readonly bytes: number,
    from: Offsets,
  ) {
    this.#acknowledged = { ...from };
  }

  get acknowledged(): Readonly<Offsets> {
    return this.#acknowledged;
  }

  /** How many more bytes may be sent, if everything before these offsets is sent. */
  spaceAfter(sent: Offsets): number {
    return this.bytes - streamNames.reduce((sum, name) => sum + sent[name] - this.#acknowledged[name], 0);
  }

  /** Never moves back, and never beyond what was sent. */
  acknowledge(acknowledged: Partial<Offsets>, sent: Offsets): void {
    for (const name of streamNames) {
      const offset = Math.min(acknowledged[name] ?? 0, sent[name]);
      if (offset > this.#acknowledged[name]) this.lastProgress = performance.now();
      this.#acknowledged[name] = Math.max(this.#acknowledged[name], offset);
    }
  }
}
