// A redraw of one screen for the state file of an upgrade, with a timeout.

/** After it, the last saved redraw is used. */
const timeoutMs = 3000;

export interface SavedRedraw {
  data: Uint8Array;
  /** The output continues here. */
  offset: number;
}

export class UpgradeRedraw {
  #redraw: SavedRedraw | "requested" | undefined;
  #timer: Timer | undefined;

  /** Undefined until the redraw is complete. */
  get value(): SavedRedraw | undefined {
    return typeof this.#redraw === "object" ? this.#redraw : undefined;
  }

  /** Does nothing if the redraw is complete or requested already. */
  request(draw: () => Promise<SavedRedraw>, saved: () => SavedRedraw): void {
    if (this.#redraw !== undefined) return;
    this.#redraw = "requested";
    const timer = setTimeout(() => finish(saved()), timeoutMs);
    this.#timer = timer;
    const finish = (redraw: SavedRedraw) => {
      clearTimeout(timer);
      // The timer identifies the request: `forget` and a new request may have come in between.
      if (this.#redraw === "requested" && this.#timer === timer) this.#redraw = redraw;
    };
    draw().then(finish, () => finish(saved()));
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#redraw = undefined;
  }
}
