// Process-wide gate of an upgrade. While it is closed, this process reads no pipe or terminal, writes no pending input and
// reaps no child: the takeover may still roll back to the previous program, and a byte or wait status cannot be unread.

let held: PromiseWithResolvers<void> | undefined;

export const readGate = {
  close(): void {
    held ??= Promise.withResolvers<void>();
  },

  open(): void {
    held?.resolve();
    held = undefined;
  },

  /** Resolves when the gate opens; undefined while it is open. */
  get whenOpen(): Promise<void> | undefined {
    return held?.promise;
  },
};
