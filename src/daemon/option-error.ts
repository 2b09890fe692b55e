/** A setting that cannot be used. The message names the setting, and is printed to the user as it is. */
export class OptionError extends Error {
  constructor(
    message: string,
    /** Wrong on any machine, as opposed to refused by this one: the exit code is that of a usage error. */
    readonly isWrong = false,
  ) {
    super(message);
  }
}

/** Turns any error of `action` into an OptionError that names the flag. */
export function orOptionError<T>(flag: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new OptionError(`${flag}: ${(error as Error).message}`);
  }
}
