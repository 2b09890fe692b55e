import type { Check } from "./check.ts";
import { checkLaunchd } from "./launchd-darwin.ts";
import { limitChecks } from "./limits.ts";
import { limitsDarwin } from "./limits-darwin.ts";
import { checkSandboxExec } from "./sandbox-exec-darwin.ts";

export const darwinChecks = (): Check[] => [
  ...limitChecks(limitsDarwin),
  { id: "sandbox-exec", group: "isolation", run: checkSandboxExec },
  { id: "launchd", group: "service", run: checkLaunchd },
];
