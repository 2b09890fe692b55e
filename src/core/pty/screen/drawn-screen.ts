// A redraw of a screen for the program that takes over in an upgrade. It is waited for, but not for ever.

/** Then the screen goes on from what was saved last. */
const patienceMs = 3000;

export interface Drawn {
  data: Uint8Array;
  /** Where the output goes on behind it. */
  offset: number;
}

export class DrawnScreen {
  #drawn: Drawn | "asked" | undefined;

  /** Undefined until it is there. */
  get value(): Drawn | undefined {
    return typeof this.#drawn === "object" ? this.#drawn : undefined;
  }

  /** Does nothing where it is there or on its way. */
  ask(draw: () => Promise<Drawn>, saved: () => Drawn): void {
    if (this.#drawn !== undefined) return;
    this.#drawn = "asked";
    const keep = (drawn: Drawn) => {
      if (this.#drawn === "asked") this.#drawn = drawn;
    };
    draw().then(keep, () => keep(saved()));
    setTimeout(() => keep(saved()), patienceMs);
  }

  forget(): void {
    this.#drawn = undefined;
  }
}
