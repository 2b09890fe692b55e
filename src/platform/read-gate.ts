// While a daemon is being put together from what another program has handed over, nothing is read and nobody's end is
// seen yet: until all of it stands, the way back must be open, and what has been read could not be given back.

let held: PromiseWithResolvers<void> | undefined;

export const readGate = {
  hold(): void {
    held ??= Promise.withResolvers<void>();
  },

  release(): void {
    held?.resolve();
    held = undefined;
  },

  /** Undefined where nothing is held. */
  get over(): Promise<void> | undefined {
    return held?.promise;
  },
};
