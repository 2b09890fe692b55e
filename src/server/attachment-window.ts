// How much of a stream may be under way to a client that says how much it has taken. Other traffic on the same
// connection goes on meanwhile, which a pause of the connection would not allow.
import { type Offsets, streamNames } from "../core/command/output.ts";

export class AttachmentWindow {
  /** When the client last took anything, by performance.now(). */
  lastProgress = performance.now();
  /** Everything before has been taken. */
  get taken(): Readonly<Offsets> {
    return this.#taken;
  }
  readonly #taken: Offsets;

  constructor(
    readonly bytes: number,
    from: Offsets,
  ) {
    this.#taken = { ...from };
  }

  /** How many more bytes may be sent to a client that has been sent everything before these offsets. */
  roomAfter(sent: Offsets): number {
    return this.bytes - streamNames.reduce((sum, name) => sum + sent[name] - this.#taken[name], 0);
  }

  /** Never back, and never beyond what was sent. */
  take(taken: Partial<Offsets>, sent: Offsets): void {
    for (const name of streamNames) {
      const offset = Math.min(taken[name] ?? 0, sent[name]);
      if (offset > this.#taken[name]) this.lastProgress = performance.now();
      this.#taken[name] = Math.max(this.#taken[name], offset);
    }
  }
}
