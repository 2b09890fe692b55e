/** A setting that cannot be used; its message is for the person who gave it. */
export class OptionError extends Error {
  constructor(
    message: string,
    /** On any machine, and not just where something is in its way here. */
    readonly isWrong = false,
  ) {
    super(message);
  }
}

/** What goes wrong is told by the flag that asked for it. */
export function orOptionError<T>(flag: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new OptionError(`${flag}: ${(error as Error).message}`);
  }
}
