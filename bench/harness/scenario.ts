import type { Daemon, DaemonSetup } from "./daemon.ts";
import type { Result } from "./rows.ts";
import type { Tools } from "./tools.ts";

export interface Bench {
  tools: Tools;
  binary: string;
  isQuick: boolean;
  /** A directory for files, gone with the run. */
  dir: string;
  daemon(setup?: Omit<DaemonSetup, "binary">): Promise<Daemon>;
  /** How many, in a run in full and in a quick one. */
  times(inFull: number, whenQuick: number): number;
}

export interface Scenario {
  name: string;
  about: string;
  run(bench: Bench): Promise<Result>;
}
