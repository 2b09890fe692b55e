// The descriptor behind a door, where the system lets it be handed to another program.
import { type ListeningSocket, listening as onLinux } from "./linux/listening.ts";

export function listening<T>(
  make: () => T,
  given?: number,
): { made: T; socket: ListeningSocket | undefined } {
  return process.platform === "linux" ? onLinux(make, given) : { made: make(), socket: undefined };
}
