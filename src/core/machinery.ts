// What stands between the core and processes. A rehearsal (src/daemon/rehearsal) has one in which there are none.
import type { CustodyState } from "../protocol/handover/document.ts";
import type { DriverName } from "../protocol/pty.ts";
import { Custody } from "./process/custody.ts";
import type { Start } from "./process/spawn.ts";
import { drivers } from "./pty/create-terminal.ts";
import type { PtyDriver } from "./pty/driver.ts";
import { type Typing, typing } from "./pty/typing.ts";
import { warmUpEmulator } from "./pty/warm-up.ts";

export interface Machinery {
  custody: Custody;
  /** Undefined for the usual way. */
  startShell: Start | undefined;
  drivers: Record<DriverName, PtyDriver>;
  /** What is typed at its terminals. */
  typing: Typing;
  /** When there are terminals that somebody may want to see. */
  warmUpEmulator(): Promise<void>;
}

export const realMachinery = (before: CustodyState | undefined): Machinery => ({
  custody: new Custody(undefined, before),
  startShell: undefined,
  typing,
  drivers,
  warmUpEmulator,
});
