// What stands between the core and processes. A rehearsal (src/daemon/rehearsal) has one in which there are none.
import type { CustodyState } from "../protocol/handover/document.ts";
import type { DriverName } from "../protocol/pty.ts";
import { whenChildrenEnd } from "./process/child-ends.ts";
import { Custody } from "./process/custody.ts";
import type { Start } from "./process/spawn.ts";
import { drivers } from "./pty/create-terminal.ts";
import type { PtyDriver } from "./pty/driver.ts";
import { Screens } from "./pty/screen/screens.ts";
import { type Typing, typing } from "./pty/typing.ts";

export interface Machinery {
  custody: Custody;
  /** Undefined for the usual way. */
  startShell: Start | undefined;
  drivers: Record<DriverName, PtyDriver>;
  /** What is typed at its terminals. */
  typing: Typing;
  /** Read what its terminals print. */
  screens: Screens;
}

export function realMachinery(before: CustodyState | undefined, daemonTag: string): Machinery {
  const custody = custodyOf(before, daemonTag);
  return { custody, startShell: undefined, typing, drivers, screens: new Screens(custody) };
}

function custodyOf(before: CustodyState | undefined, daemonTag: string): Custody {
  const custody = new Custody(undefined, before, daemonTag);
  if (custody.adoptsOrphans) whenChildrenEnd(() => custody.reapEnded());
  return custody;
}
