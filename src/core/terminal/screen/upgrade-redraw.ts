// A redraw of a screen for the program that takes over in an upgrade. It is waited for, but not for ever.

/** Then the screen goes on from what was saved last. */
const patienceMs = 3000;

export interface Drawn {
  data: Uint8Array;
  /** Where the output goes on behind it. */
  offset: number;
}

export class UpgradeRedraw {
  #drawn: Drawn | "asked" | undefined;
  #timer: Timer | undefined;

  /** Undefined until it is there. */
  get value(): Drawn | undefined {
    return typeof this.#drawn === "object" ? this.#drawn : undefined;
  }

  /** Does nothing where it is there or on its way. */
  ask(draw: () => Promise<Drawn>, saved: () => Drawn): void {
    if (this.#drawn !== undefined) return;
    this.#drawn = "asked";
    const timer = setTimeout(() => keep(saved()), patienceMs);
    this.#timer = timer;
    const keep = (drawn: Drawn) => {
      clearTimeout(timer);
      // Not for one that was asked for later.
      if (this.#drawn === "asked" && this.#timer === timer) this.#drawn = drawn;
    };
    draw().then(keep, () => keep(saved()));
  }

  forget(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#drawn = undefined;
  }
}
