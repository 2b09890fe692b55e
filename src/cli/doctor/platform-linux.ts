import { checkBubblewrap } from "./bubblewrap-linux.ts";
import { checkCgroups } from "./cgroups-linux.ts";
import type { Check } from "./check.ts";
import { limitChecks } from "./limits.ts";
import { limitsLinux } from "./limits-linux.ts";
import { checkSystemd } from "./systemd-linux.ts";

export const linuxChecks = (): Check[] => [
  ...limitChecks(limitsLinux),
  { id: "cgroups", group: "isolation", run: checkCgroups },
  { id: "bubblewrap", group: "isolation", run: checkBubblewrap },
  { id: "systemd", group: "service", run: checkSystemd },
];
