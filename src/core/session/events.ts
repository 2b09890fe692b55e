// What the core reports while it works. The core does not know the receiver; src/recovery records these events.
import type { CommandEvents } from "../command/store.ts";
import type { TerminalEvents } from "../terminal/terminals.ts";

export interface RuntimeEvents extends CommandEvents, TerminalEvents {
  /** The set of owned processes may have changed. Called at each housekeeping and after a takeover. */
  processesChanged(): void;
  /** The registry closes, and ends all processes. Commands and terminals may still end afterwards. */
  closing(): void;
}

export const noEvents: RuntimeEvents = {
  commandStarted() {},
  commandEnded() {},
  terminalStarted() {},
  terminalEnded() {},
  processesChanged() {},
  closing() {},
};
