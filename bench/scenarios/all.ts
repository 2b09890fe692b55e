// In the order in which they are run and shown.
import type { Scenario } from "../harness/scenario.ts";
import { churn } from "./churn.ts";
import { execAtOnce } from "./exec-at-once.ts";
import { execBackToBack, execWarm } from "./exec-in-turn.ts";
import { fanOut } from "./fan-out.ts";
import { idleSessions } from "./idle-sessions.ts";
import { idleTerminals } from "./idle-terminals.ts";
import { linesAlone, linesAtOnce, linesOverSessions } from "./lines.ts";
import { ping } from "./ping.ts";
import { reattach } from "./reattach.ts";
import { size } from "./size.ts";
import { startup } from "./startup.ts";
import { stream } from "./stream.ts";
import { terminalEcho } from "./terminal-echo.ts";
import { terminalThroughput } from "./terminal-throughput.ts";

export const scenarios: Scenario[] = [
  ping,
  execWarm,
  execBackToBack,
  execAtOnce,
  linesAlone,
  linesAtOnce,
  linesOverSessions,
  stream,
  terminalEcho,
  terminalThroughput,
  fanOut,
  reattach,
  churn,
  idleSessions,
  idleTerminals,
  startup,
  size,
];
